"""A plugin that does what it is told to, whatever that is."""
import ctypes
import json
import os
import socket
import struct
import sys
import threading
import time

from attempt import attempt
from clawd_plugin import Host, Plugin, RpcError

plugin = Plugin(sys.argv[1], "1.0.0")


@plugin.tool
def act(args, call):
    more = {"call": call, "host": call.host, "Host": Host, "plugin": plugin, "RpcError": RpcError, "struct": struct}
    return attempt(args["code"], args.get("places", {}), more)


@plugin.tool
def raw(args, call):
    """Never runs: the messages of its stream are those that the caller asks for."""


orderly = plugin.methods["/clawd.plugin.v1.PluginService/CallTool"]


def stream(request, call):
    if request.get("tool") != "raw":
        yield from orderly(request, call)
        return
    scope = {"call": call, "os": os, "time": time, "threading": threading, "request": request}
    exec("def news():\n" + "".join("    " + line + "\n" for line in request["args"]["code"].split("\n")), scope)
    yield from scope["news"]()


plugin.methods["/clawd.plugin.v1.PluginService/CallTool"] = stream


plugin.serve()
