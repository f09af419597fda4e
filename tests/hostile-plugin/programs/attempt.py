"""Runs one attack and says what came of it: "ESCAPED: …" or "refused: …". The same inside a plugin and outside of any."""
import ctypes
import json
import os
import platform
import socket
import subprocess
import sys
import textwrap
import threading
import time

# x86-64, then what all younger architectures have.
NUMBERS = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "unshare": (272, 97),
    "mount": (165, 40),
    "setns": (308, 268),
    "pivot_root": (155, 41),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "userfaultfd": (323, 282),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "fsopen": (430, 430),
    "fanotify_init": (300, 262),
    "kcmp": (312, 272),
    "clone3": (435, 435),
    "personality": (135, 92),
    "memfd_create": (319, 279),
}
libc = ctypes.CDLL(None, use_errno=True)


def system_call(name, *args):
    """The raw call; raises OSError with its error."""
    number = NUMBERS[name][0 if platform.machine() == "x86_64" else 1]
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in args]
    result = libc.syscall(ctypes.c_long(number), *given)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def attempt(code, places, more=None):
    scope = {
        **{"P": places, "os": os, "sys": sys, "socket": socket, "ctypes": ctypes, "time": time, "json": json},
        **{"libc": libc, "system_call": system_call, "subprocess": subprocess, "threading": threading},
        **(more or {}),
    }
    exec("def attack():\n" + textwrap.indent(textwrap.dedent(code), "    "), scope)
    try:
        got = scope["attack"]()
    except (OSError, MemoryError, subprocess.SubprocessError) as error:
        return "refused: %s %s" % (type(error).__name__, error)
    except Exception as error:
        # A thread that cannot be started, an answer of the host: everything else is a mistake of the attack.
        if type(error).__name__ == "HostError" or "start new thread" in str(error):
            return "refused: %s %s" % (getattr(error, "code", ""), error)
        return "broken: %s %s" % (type(error).__name__, error)
    return "ESCAPED: %s" % str(got)[:300] if got else "refused: nothing there"
