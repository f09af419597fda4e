import type { Rule, SyscallFilter } from "./syscall-filter.ts";
import type { Syscall } from "./syscall-numbers.ts";

/**
 * Which part of the kernel a child may speak to. `isolate`: what a process needs that computes and talks over pipes that
 * it was given, and no way to make new machine code. `isolate-jit`: the same, with a JIT. `program`: what programs need,
 * without the calls that reach other processes, the machine, or corners of the kernel that are known for their holes.
 */
export type SyscallProfile = "isolate" | "isolate-jit" | "program";

const EPERM = { errno: 1 };
const ENOSYS = { errno: 38 };
const EAFNOSUPPORT = { errno: 97 };

const PROT_EXEC = 4;
const MAP_ANONYMOUS = 0x20;
const CLONE_THREAD = 0x1_0000;
const CLONE_VM = 0x100;
/** Every kind of namespace but the one of time, whose bit `clone` uses for a signal's number. */
const CLONE_NAMESPACES = 0x7e02_0000;
const CLONE_TIME_NAMESPACE = 0x80;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
/** Typing into, and pasting into, a terminal that somebody else reads. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/** The calls of a computing process with pipes, the frequent ones first. */
const COMPUTING: readonly Syscall[] = [
  "futex",
  "read",
  "write",
  "epoll_pwait",
  "madvise",
  "munmap",
  "brk",
  "getpid",
  "writev",
  "readv",
  "clock_gettime",
  "epoll_ctl",
  "rt_sigprocmask",
  "clock_nanosleep",
  "nanosleep",
  "epoll_wait",
  "epoll_pwait2",
  "epoll_create1",
  "eventfd2",
  "poll",
  "ppoll",
  "pread64",
  "pwrite64",
  "close",
  "openat",
  "open",
  "fcntl",
  "lseek",
  "fstat",
  "newfstatat",
  "statx",
  "stat",
  "lstat",
  "readlink",
  "readlinkat",
  "access",
  "faccessat",
  "faccessat2",
  "getcwd",
  "pipe",
  "pipe2",
  "dup",
  "dup2",
  "dup3",
  "ioctl",
  "fadvise64",
  "futex_waitv",
  "set_robust_list",
  "get_robust_list",
  "rseq",
  "membarrier",
  "sched_getaffinity",
  "sched_getparam",
  "sched_getscheduler",
  "sched_yield",
  "clock_getres",
  "gettimeofday",
  "time",
  "mremap",
  "rt_sigaction",
  "rt_sigreturn",
  "sigaltstack",
  "tgkill",
  "kill",
  "gettid",
  "getppid",
  "getuid",
  "geteuid",
  "getgid",
  "getegid",
  "capget",
  "prlimit64",
  "getrlimit",
  "getrusage",
  "sysinfo",
  "uname",
  "getrandom",
  "prctl",
  "arch_prctl",
  "set_tid_address",
  "exit",
  "exit_group",
  "wait4",
  // They only take away, and the walls are put up behind the filter.
  "landlock_create_ruleset",
  "landlock_add_rule",
  "landlock_restrict_self",
  "restart_syscall",
  "execve",
  "getsockopt",
  "getsockname",
  "recvmsg",
  "recvfrom",
  "sendmsg",
  "sendto",
  "shutdown",
];

/** New threads, and no new processes. glibc tries `clone3` first, whose flags a filter cannot read. */
const THREADS_ONLY: readonly Rule[] = [
  {
    calls: ["clone"],
    when: [{ argument: 0, hasAllOf: CLONE_THREAD | CLONE_VM }],
    verdict: "allow",
    otherwise: EPERM,
  },
  { calls: ["clone3"], verdict: ENOSYS },
];

/** Machine code comes from files that the sandbox shows, or not at all: what overruns a buffer finds nothing to run. */
const NO_NEW_CODE: readonly Rule[] = [
  { calls: ["mprotect"], when: [{ argument: 2, hasAnyOf: PROT_EXEC }], verdict: EPERM },
  {
    calls: ["mmap"],
    when: [
      { argument: 2, hasAnyOf: PROT_EXEC },
      { argument: 3, hasAnyOf: MAP_ANONYMOUS },
    ],
    verdict: EPERM,
  },
];

const REACHING_OUT: readonly Syscall[] = [
  "ptrace",
  "process_vm_readv",
  "process_vm_writev",
  "pidfd_getfd",
  "kcmp",
  "mount",
  "umount2",
  "pivot_root",
  "chroot",
  "fsopen",
  "fsconfig",
  "fsmount",
  "fspick",
  "move_mount",
  "open_tree",
  "mount_setattr",
  "setns",
  "open_by_handle_at",
  "name_to_handle_at",
  "perf_event_open",
  "fanotify_init",
  "move_pages",
  "migrate_pages",
  "kexec_load",
  "kexec_file_load",
  "init_module",
  "finit_module",
  "delete_module",
  "iopl",
  "ioperm",
  "swapon",
  "swapoff",
  "reboot",
  "syslog",
  "acct",
  "quotactl",
  "quotactl_fd",
  "clock_settime",
  "settimeofday",
  "adjtimex",
  "clock_adjtime",
  "sethostname",
  "setdomainname",
  "vhangup",
  "nfsservctl",
  "uselib",
  "_sysctl",
  "sysfs",
  "ustat",
  "lookup_dcookie",
];

/** Programs that know these do without when the kernel seems to lack them. */
const SEEMINGLY_MISSING: readonly Syscall[] = [
  "clone3",
  "bpf",
  "userfaultfd",
  "io_uring_setup",
  "io_uring_enter",
  "io_uring_register",
  "keyctl",
  "add_key",
  "request_key",
];

const PROGRAM_RULES: readonly Rule[] = [
  { calls: SEEMINGLY_MISSING, verdict: ENOSYS },
  { calls: REACHING_OUT, verdict: EPERM },
  { calls: ["clone"], when: [{ argument: 0, hasAnyOf: CLONE_NAMESPACES }], verdict: EPERM },
  { calls: ["unshare"], when: [{ argument: 0, hasAnyOf: CLONE_NAMESPACES | CLONE_TIME_NAMESPACE }], verdict: EPERM },
  { calls: ["ioctl"], when: [{ argument: 1, isOneOf: [TIOCSTI, TIOCLINUX] }], verdict: EPERM },
  // A network namespace does not hold every family: AF_VSOCK, for one, speaks to the host of a virtual machine.
  {
    calls: ["socket"],
    when: [{ argument: 0, isOneOf: [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] }],
    verdict: "allow",
    otherwise: EAFNOSUPPORT,
  },
  // Every personality but asking for the one there is: some switch protections of memory off.
  { calls: ["personality"], when: [{ argument: 0, isOneOf: [0, 0xffff_ffff] }], verdict: "allow", otherwise: EPERM },
];

export const SYSCALL_PROFILES: Readonly<Record<SyscallProfile, SyscallFilter>> = {
  isolate: {
    rules: [{ calls: COMPUTING, verdict: "allow" }, ...NO_NEW_CODE, ...THREADS_ONLY, ...seeminglyMissing()],
    others: EPERM,
  },
  "isolate-jit": {
    rules: [{ calls: [...COMPUTING, "mmap", "mprotect"], verdict: "allow" }, ...THREADS_ONLY, ...seeminglyMissing()],
    others: EPERM,
  },
  program: { rules: PROGRAM_RULES, others: "allow" },
};

function seeminglyMissing(): readonly Rule[] {
  return [{ calls: SEEMINGLY_MISSING.filter((call) => call !== "clone3"), verdict: ENOSYS }];
}
