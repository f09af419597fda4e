import { type Attack, granted, OUTSIDE, PRIVILEGED } from "../attack.ts";

const looksInto = (what: string, name: string, look: string): Attack => ({
  name: `looks at ${what} of the daemon`,
  code: `at = "/proc/%d/${name}" % P["daemonPid"]\n${look}`,
  control: OUTSIDE,
});

/** A system call, with arguments that tell the kernel's own answer from that of the filter. */
const calls = (
  what: string,
  call: string,
  told = /EPERM|Operation not permitted|Function not implemented/,
): Attack => ({
  name: what,
  code: `
    try:
        return "%d" % system_call(${call}) and "done"
    except OSError as error:
        # Anything but these means that the kernel listened.
        if error.errno in (1, 38): raise
        return "the kernel said: " + str(error)`,
  told,
  control: PRIVILEGED,
});

/** Other processes and the kernel. */
export const PROCESS_ATTACKS: readonly Attack[] = [
  looksInto("the environment", "environ", "return open(at).read()"),
  looksInto("the command line", "cmdline", "return open(at).read()"),
  looksInto("the memory", "mem", `return open(at, "rb") and True`),
  looksInto("the descriptors", "fd", "return os.listdir(at)"),
  looksInto("the working folder", "cwd", "return os.readlink(at)"),
  looksInto("the root", "root", "return os.listdir(at)"),
  looksInto("the open maps", "maps", "return open(at).read()"),
  {
    name: "searches every environment of the machine for the daemon's secret",
    code: `
      for one in filter(str.isdigit, os.listdir("/proc")):
          try:
              if P["secretInEnvironment"].encode()[:-1] + P["lastLetter"].encode() in open("/proc/%s/environ" % one, "rb").read(): return one
          except OSError: pass`,
    control: OUTSIDE,
  },
  {
    name: "searches every command line of the machine for the daemon",
    code: `
      for one in filter(str.isdigit, os.listdir("/proc")):
          try:
              if b"clawd.js" in open("/proc/%s/cmdline" % one, "rb").read(): return one
          except OSError: pass`,
    control: OUTSIDE,
  },
  {
    name: "finds secrets in its own environment",
    code: `return [one for one in os.environ if one not in ("PATH", "LANG", "HOME", "TMPDIR", "PWD", "CLAWD_PLUGIN", "LC_CTYPE", "SHLVL", "_") and "proxy" not in one.lower()]`,
    control: OUTSIDE,
  },
  {
    name: "has arguments that name other plugins",
    code: `return "victim" in open("/proc/1/cmdline").read()`,
    control: granted(`return "attacker" in open("/proc/self/cmdline").read()`),
  },
  { name: "signals the daemon", code: `os.kill(P["daemonPid"], 0); return True`, control: OUTSIDE },
  { name: "kills a process of the person", code: `os.kill(P["decoyPid"], 9); return True`, control: OUTSIDE },
  { name: "signals another plugin", code: `os.kill(P["victimPid"], 0); return True`, control: OUTSIDE },
  {
    name: "signals the group of the daemon",
    code: `os.killpg(P["daemonGroup"], 0); return True`,
    control: OUTSIDE,
  },
  {
    name: "holds the daemon by a descriptor",
    code: `return os.pidfd_open(P["daemonPid"])`,
    control: OUTSIDE,
  },
  {
    name: "signals the daemon under Node",
    under: "node",
    code: "return process.kill(P.daemonPid, 0)",
    control: granted("return process.kill(process.pid, 0)"),
  },
  {
    name: "signals the daemon with a program that it was granted",
    under: "node",
    code: `return load("node:child_process").spawnSync("python3", ["-c", "import os; os.kill(" + P.daemonPid + ", 0)"]).status === 0`,
    control: granted(
      `return load("node:child_process").spawnSync("python3", ["-c", "import os; os.kill(os.getppid(), 0)"]).status === 0`,
    ),
  },
  {
    name: "traces a process",
    code: `
      child = os.fork()
      if child == 0: time.sleep(5); os._exit(0)
      try:
          system_call("ptrace", 0x4206, child, 0, 0)
          return True
      finally:
          os.kill(child, 9); os.waitpid(child, 0)`,
    control: OUTSIDE,
  },
  {
    name: "reads the memory of a process",
    code: `
      class Piece(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
      here, there = ctypes.create_string_buffer(8), ctypes.create_string_buffer(b"8 bytes")
      near, far = Piece(ctypes.addressof(here), 8), Piece(ctypes.addressof(there), 8)
      return system_call("process_vm_readv", os.getpid(), ctypes.byref(near), 1, ctypes.byref(far), 1, 0)`,
    control: OUTSIDE,
  },
  calls("makes a namespace of users", `"unshare", 0x10000000`),
  calls("makes a namespace of mounts", `"unshare", 0x00020000`),
  calls("makes a namespace of networks", `"unshare", 0x40000000`),
  calls("mounts something", `"mount", b"none", b"/nowhere", b"tmpfs", 0, 0`),
  calls("joins a namespace", `"setns", os.open("/proc/self/ns/uts", os.O_RDONLY), 0`),
  calls("changes the root", `"pivot_root", b"/nowhere", b"/nowhere"`),
  calls("opens a file system", `"fsopen", b"tmpfs", 0`),
  calls("loads a program into the kernel", `"bpf", 0, 0, 0`),
  calls("measures the machine", `"perf_event_open", 0, 0, 0, 0, 0`),
  calls("opens a ring of requests to the kernel", `"io_uring_setup", 1, 0`),
  calls("reads keys of the kernel", `"keyctl", 0, -3, 0`),
  calls("handles faults of memory", `"userfaultfd", 0`),
  calls("names a file by its handle", `"name_to_handle_at", -100, b"/", 0, 0, 0`),
  calls("opens a file by its handle", `"open_by_handle_at", -100, 0, 0`),
  calls("loads a module into the kernel", `"init_module", 0, 0, b""`),
  calls("listens to the file system", `"fanotify_init", 0, 0`),
  calls("compares processes", `"kcmp", os.getpid(), os.getpid(), 99, 0, 0`),
  calls("switches protections of memory off", `"personality", 0x0040000`),
  calls("makes a process with flags that no filter can read", `"clone3", 0, 0`),
  {
    name: "makes a namespace with a program of the system",
    code: `return subprocess.run(["unshare", "--user", "true"], stderr=subprocess.DEVNULL).returncode == 0`,
    control: PRIVILEGED,
  },
  {
    name: "gets a privilege from a program",
    code: `
      status = open("/proc/self/status").read()
      mask = int(status.split("CapBnd:")[1].split()[0], 16)
      return mask != 0 or "NoNewPrivs:\\t1" not in status`,
    control: OUTSIDE,
  },
  {
    name: "runs without a filter of system calls",
    code: `return "Seccomp:\\t2" not in open("/proc/self/status").read()`,
    control: OUTSIDE,
  },
  { name: "goes before everybody else", code: "return os.nice(-5) < 0", control: PRIVILEGED },
  {
    name: "runs as often as it likes",
    code: `os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0)); return True`,
    control: PRIVILEGED,
  },
  {
    name: "raises a limit of its own",
    code: `
      import resource
      limit = resource.getrlimit(resource.RLIMIT_DATA)[1]
      if limit == resource.RLIM_INFINITY: limit = 1 << 40; resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
      try:
          resource.setrlimit(resource.RLIMIT_DATA, (limit + 4096, limit + 4096))
          return True
      except ValueError as error:
          raise PermissionError(str(error))`,
    control: PRIVILEGED,
  },
  { name: "renames the machine", code: `socket.sethostname(socket.gethostname()); return True`, control: PRIVILEGED },
  {
    name: "types into a terminal of somebody else",
    code: `
      import fcntl, pty
      keeper, terminal = pty.openpty()
      try:
          fcntl.ioctl(terminal, 0x5412, b"x")
          return True
      except OSError as error:
          if error.errno in (1, 5): raise
          return str(error)`,
    told: /refused/,
    control: PRIVILEGED,
  },
];
