"""The part of a clawd plugin that is the same in every one, with nothing but Python's standard library.

It speaks clawd.plugin.v1 as Connect with JSON over HTTP/1.1 on a unix socket. Copy this file beside your program:

    from clawd_plugin import Plugin
    plugin = Plugin("my-plugin", "1.0.0")

    @plugin.tool
    def greet(args, call):            # the tool "greet" of plugin.json
        call.progress("thinking")     # a line for the person who waits
        return "Hello, " + args["name"]

    @plugin.hook                      # hooks in the order of plugin.json
    def guard(event, call):           # None, {"block": why}, {"modify": value}, {"answer": result} or {"skip": True}
        return {"block": "no"} if event["value"]["args"].get("path") == "secret" else None

    plugin.serve()

A tool returns its text, or yields pieces of text as they come; an exception is a failed result in its words. What is
printed goes to the log ("claw plugin logs NAME"). Calls run in threads of their own.
"""
import base64
import hmac
import http.client
import inspect
import json
import os
import select
import socket
import socketserver
import struct
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler

# The kernel counts stacks as data, eight MiB each if nobody says less: sixty-four calls at once would be all that is allowed.
threading.stack_size(1024 * 1024)
SERVICE = "/clawd.plugin.v1."
MAX_HEADER_BYTES, MAX_HEADERS = 16 * 1024, 100
# The host may send its next call on the same connection when the last one is this long ago. It is never closed from here.
KEEP_ALIVE = b"keep-alive: timeout=60\r\n"
MESSAGE_LIMIT_BYTES = 4 * 1024 * 1024
CHUNK_CHARS = 64 * 1024
STATUS = {
    **{"unauthenticated": 401, "unimplemented": 404, "not_found": 404, "resource_exhausted": 429, "aborted": 409},
    **{"invalid_argument": 400, "failed_precondition": 400},
}
VERDICTS = ("pass", "modify", "block", "answer", "skip")


class RpcError(Exception):
    """An answer with a code of the Connect protocol, such as "unimplemented" or "invalid_argument"."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class HostError(RpcError):
    """The host refused what it was asked for; `code` says how."""


class Cancelled(Exception):
    """Nobody waits for this call any more."""


class Host:
    """The services of the host, by method: host.call("Recall", {"query": "apples", "limit": 3})["hits"]."""

    def __init__(self, path, token):
        self.path, self.token = path, token

    def call(self, method, request=None):
        connection = http.client.HTTPConnection("host")
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(self.path)
            headers = {"authorization": "Bearer " + self.token, "content-type": "application/json"}
            connection.request("POST", SERVICE + "HostService/" + method, json.dumps(request or {}).encode(), headers)
            reply = connection.getresponse()
            body = json.loads(reply.read() or b"{}")
        finally:
            connection.close()
        if reply.status != 200:
            raise HostError(body.get("code", "unknown"), body.get("message", "the host answered %d" % reply.status))
        return body

    def log(self, message, level="LOG_LEVEL_INFO"):
        self.call("Log", {"level": level, "message": message})

    def recall(self, query, limit=5):
        return self.call("Recall", {"query": query, "limit": limit}).get("hits", [])


class Call:
    """One call that runs: `request` is what the host said, `host` are its services, `config` the plugin's settings, and
    `workspace` the folder that the conversation works in."""

    def __init__(self, plugin, request, connection, send):
        self.request, self.host, self.config = request, plugin.host, plugin.config
        about = request.get("event", request)
        self.id, self.workspace = about.get("callId", ""), about.get("workspace", "")
        self._connection, self._send = connection, send

    def progress(self, text):
        """Shows a line to the person who waits. For tools."""
        self._send({"progress": text})

    def write(self, text):
        """Adds a piece to the tool's output. Pieces come before the text that the tool returns."""
        for at in range(0, len(text), CHUNK_CHARS):
            data = text[at : at + CHUNK_CHARS].encode("utf-8", "replace")
            self._send({"output": {"data": base64.b64encode(data).decode()}})

    def is_cancelled(self):
        """True when nobody waits any more: the host has closed the connection."""
        if not select.select([self._connection], [], [], 0)[0]:
            return False
        try:
            return self._connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def sleep(self, seconds):
        """Waits, and raises Cancelled as soon as nobody waits any more."""
        select.select([self._connection], [], [], seconds)
        if self.is_cancelled():
            raise Cancelled()


class Plugin:
    def __init__(self, name, version):
        self.name, self.version = name, version
        self.tools, self.hooks = {}, []
        self.host, self.config, self.granted, self.data_folder = None, {}, [], ""
        self._use = lambda config: None
        self._running, self._draining, self._idle = 0, False, threading.Condition()
        self.methods = {
            SERVICE + "PluginService/Initialize": self._initialize,
            SERVICE + "PluginService/ListTools": self._list_tools,
            SERVICE + "PluginService/CallTool": self._call_tool,
            SERVICE + "PluginService/Drain": self._drain,
            SERVICE + "PluginService/Shutdown": self._shutdown,
            SERVICE + "HookService/RunHook": self._run_hook,
            "/grpc.health.v1.Health/Check": lambda request, call: {"status": "SERVING"},
        }

    def tool(self, run):
        """Decorates the function of a tool, by its name: run(args, call)."""
        self.tools[run.__name__] = run
        return run

    def hook(self, run):
        """Decorates the function of a hook, in the order of plugin.json: run(event, call)."""
        self.hooks.append(run)
        return run

    def configure(self, use):
        """Decorates the function that takes the settings: once before anything else, and whenever a person changes them.
        What it raises refuses them."""

        def take(request, call):
            try:
                use(request.get("config", {}))
            except Exception as error:  # the old settings stay in force
                return {"problem": _words(error)}
            self.config = request.get("config", {})
            return {}

        self._use = use
        self.methods[SERVICE + "PluginService/Configure"] = take
        return use

    def method(self, path):
        """Decorates any other method, e.g. "EmbedService/Embed": a function answers once, a generator streams."""

        def keep(run):
            self.methods[SERVICE + path] = run
            return run

        return keep

    def serve(self):
        """Shakes hands with clawd, then serves until it is told to end or clawd is gone."""
        if "CLAWD_PLUGIN" not in os.environ:
            print("This is a plugin of clawd: claw plugin install FOLDER", file=sys.stderr)
            sys.exit(64)
        sys.stdout.reconfigure(line_buffering=True)
        boot = json.loads(sys.stdin.readline())
        hello = {"bootVersion": 1, "sdk": "clawd_plugin.py 1"}
        if 1 in boot["protocolMajors"]:
            hello.update(protocolMajor=1, wire="WIRE_CONNECT_JSON")
        else:
            hello["error"] = "it speaks major 1 only, the host %s" % boot["protocolMajors"]
        self.host = Host(boot["host"], boot["outboundToken"])
        server = _Server(boot["listen"], _handler(self, "Bearer " + boot["inboundToken"]))
        os.write(3, json.dumps(hello).encode() + b"\n")
        os.close(3)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        # Its end means that the host is gone.
        while sys.stdin.readline():
            pass
        os._exit(0)

    def _initialize(self, request, call):
        try:
            self._use(request.get("config", {}))
        except Exception as error:
            raise RpcError("failed_precondition", _words(error)) from error
        self.config, self.granted = request.get("config", {}), request.get("granted", [])
        self.data_folder = request.get("dataFolder", "")
        return {"version": self.version, **self._list_tools(request, call)}

    def _list_tools(self, request, call):
        return {"tools": [{"name": name} for name in self.tools]}

    def _call_tool(self, request, call):
        run = self.tools.get(request.get("tool"))
        if run is None:
            raise RpcError("invalid_argument", "there is no tool %r" % request.get("tool"))
        try:
            said = run(request.get("args", {}), call)
            if inspect.isgenerator(said):
                said = self._write_all(said, call)
            yield {"result": {"text": "" if said is None else _clean(str(said))}}
        except Cancelled:
            raise
        except Exception as error:
            traceback.print_exc()
            yield {"result": {"isError": True, "text": _clean(str(error) or type(error).__name__)}}

    @staticmethod
    def _write_all(pieces, call):
        try:
            for piece in pieces:
                call.write(piece)
        finally:
            pieces.close()

    def _run_hook(self, request, call):
        event = request.get("event", {})
        try:
            said = self.hooks[event.get("hook", 0)]({"value": {}, **event}, call) or {"pass": True}
            if not isinstance(said, dict) or len(said) != 1 or next(iter(said)) not in VERDICTS:
                raise ValueError("a hook answers with one of %s, not %r" % (", ".join(VERDICTS), said))
            return {"answer": said}
        except Cancelled:
            raise
        except Exception as error:
            traceback.print_exc()
            return {"answer": {"failure": str(error) or type(error).__name__}}

    def _drain(self, request, call):
        with self._idle:
            self._draining = True
            # This call runs itself.
            self._idle.wait_for(lambda: self._running <= 1, request.get("timeLimitMs", 0) / 1000)
        return {}

    def _shutdown(self, request, call):
        def leave():
            with self._idle:
                self._idle.wait_for(lambda: self._running == 0)
            os._exit(0)

        threading.Thread(target=leave, daemon=True).start()
        return {}


def _say(error):
    # "aborted" tells the host that these are the author's words, and not those of a process that breaks. A refusal of the
    # host's own is about another call.
    return {"code": error.code if type(error) is RpcError else "aborted", "message": _words(error)}


def _words(error):
    return _clean(str(error) or type(error).__name__)


def _clean(text):
    """Without the halves of characters that JSON of others does not take."""
    return text.encode("utf-8", "replace").decode()


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        # A connection that the host has closed is no news.
        if not isinstance(sys.exc_info()[1], (Cancelled, ConnectionError)):
            traceback.print_exc()


def _handler(plugin, token):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args):
            pass

        def parse_request(self):
            """Without the mail parser of the standard library, which takes longer than all the rest of a call."""
            self.requestline = self.raw_requestline.decode("latin-1").strip()
            words = self.requestline.split()
            self.command, self.path, self.request_version = (words + ["", "", ""])[:3]
            self.headers = {}
            while (line := self.read_line(MAX_HEADER_BYTES)) not in (b"\r\n", b"\n"):
                name, colon, value = line.decode("latin-1").partition(":")
                if not (colon and line.endswith(b"\n")) or len(self.headers) == MAX_HEADERS:
                    raise ConnectionError("this is no HTTP")
                self.headers[name.strip().lower()] = value.strip()
            self.close_connection = self.headers.get("connection", "").lower() == "close"
            return True

        def do_POST(self):
            size = int(self.headers.get("content-length") or -1)
            self.streams = self.headers.get("content-type", "").startswith("application/connect+json")
            if size > MESSAGE_LIMIT_BYTES:
                self.close_connection = True
                return self.fail(RpcError("resource_exhausted", "the message has more than 4 MiB"))
            with plugin._idle:
                plugin._running += 1
            try:
                self.answer(self.rfile.read(size) if size >= 0 else self.read_chunks())
            except (Cancelled, ConnectionError):
                # The host has closed the connection: that is how it cancels.
                self.close_connection = True
            except Exception as error:
                if not isinstance(error, RpcError):
                    traceback.print_exc()
                self.fail(error)
            finally:
                with plugin._idle:
                    plugin._running -= 1
                    plugin._idle.notify_all()

        def answer(self, body):
            if not hmac.compare_digest(self.headers.get("authorization", "").encode(), token.encode()):
                raise RpcError("unauthenticated", "the token of this call is missing or wrong")
            run = plugin.methods.get(self.path)
            if run is None:
                raise RpcError("unimplemented", "there is no " + self.path)
            if plugin._draining and self.path.endswith(("/CallTool", "/RunHook")):
                raise RpcError("unavailable", "it takes nothing new: it is about to end")
            self.started = False
            request = json.loads((body[5:] if self.streams else body) or b"{}")
            said = run(request, Call(plugin, request, self.connection, self.send_frame))
            if not self.streams:
                return self.respond(200, "application/json", json.dumps(said).encode())
            try:
                for message in said:
                    self.send_frame(message)
                self.send_frame({}, 2)
            except Cancelled:
                raise
            except Exception as error:
                self.send_frame({"error": _say(error)}, 2)

        def send_frame(self, message, flags=0):
            """Each message of a stream has five bytes before it; flag 2 marks its end."""
            if not self.streams:
                return
            data = json.dumps(message).encode()
            if len(data) > MESSAGE_LIMIT_BYTES:
                raise RpcError("resource_exhausted", "a message of %d bytes is more than 4 MiB" % len(data))
            frame = b"%x\r\n%s%s\r\n" % (len(data) + 5, struct.pack(">BI", flags, len(data)), data)
            if not self.started:
                self.started = True
                head = b"content-type: application/connect+json\r\ntransfer-encoding: chunked\r\n"
                frame = b"HTTP/1.1 200 OK\r\n" + head + KEEP_ALIVE + b"\r\n" + frame
            if flags == 2:
                frame += b"0\r\n\r\n"
            try:
                self.wfile.write(frame)
            except OSError:
                raise Cancelled() from None

        def fail(self, error):
            if not self.streams:
                said = _say(error)
                return self.respond(STATUS.get(said["code"], 500), "application/json", json.dumps(said).encode())
            data = json.dumps({"error": _say(error)}).encode()
            self.respond(200, "application/connect+json", struct.pack(">BI", 2, len(data)) + data)

        def respond(self, status, kind, body):
            # In one write: the standard library's own way takes several, and a round trip more.
            head = "HTTP/1.1 %d -\r\ncontent-type: %s\r\ncontent-length: %d\r\n" % (status, kind, len(body))
            end = b"connection: close\r\n" if self.close_connection else KEEP_ALIVE
            self.wfile.write(head.encode() + end + b"\r\n" + body)

        def read_chunks(self):
            if self.headers.get("transfer-encoding", "").lower() != "chunked":
                return b""
            body = b""
            while size := int(self.read_line(), 16):
                if len(body) + size > MESSAGE_LIMIT_BYTES:
                    self.close_connection = True
                    raise RpcError("resource_exhausted", "the message has more than 4 MiB")
                body += self.rfile.read(size)
                self.read_line()
            self.read_line()
            return body

        def read_line(self, limit=1024):
            line = self.rfile.readline(limit)
            if line == b"":
                raise ConnectionError("the host has closed the connection")
            return line

    return Handler
