"""A server of MCP of a few lines: one tool, which says how it was started."""

import json
import os
import subprocess
import sys

TOOL = {"name": "print", "description": "says how it was started", "inputSchema": {"type": "object"}}


def shown():
    child = subprocess.run([sys.executable, "-c", "import fake_mcp; print('seen')"], capture_output=True, text=True)
    return {"argv": sys.argv, "isolated": sys.flags.no_site, "child": child.stdout.strip(), "env": sorted(os.environ)}


def answer(method, params):
    if method == "initialize":
        info = {"name": "fake-python", "version": "1.0.0"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps(shown())}]}
    return {}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    return 0
