import { describe, expect, test } from "vitest";
import { assembleFilter, type SyscallFilter } from "./syscall-filter.ts";
import { SYSCALL_NUMBERS, type Syscall } from "./syscall-numbers.ts";
import { SYSCALL_PROFILES } from "./syscall-profiles.ts";

const X64 = 0xc000003e;
const ARM64 = 0xc00000b7;
const NAMES: ReadonlyMap<number, string> = new Map([
  [0x7fff0000, "allow"],
  [0x80000000, "kill"],
]);

/** The kernel's machine for classic BPF, as far as filters use it; also checks what the kernel checks of a program. */
function judge(program: Buffer, call: { number: number; architecture: number; args?: readonly number[] }): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE(call.architecture, 4);
  call.args?.forEach((arg, index) => {
    data.writeUInt32LE(arg >>> 0, 16 + 8 * index);
  });
  let accumulator = 0;
  for (let at = 0; at * 8 < program.length; at += 1) {
    const code = program.readUInt16LE(at * 8);
    const value = program.readUInt32LE(at * 8 + 4);
    const hop = (yes: boolean) => program.readUInt8(at * 8 + (yes ? 2 : 3));
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (code === 0x15) at += hop(accumulator === value);
    else if (code === 0x35) at += hop(accumulator >= value);
    else if (code === 0x45) at += hop((accumulator & value) !== 0);
    else if (code === 0x06) return NAMES.get(value) ?? `errno ${value & 0xffff}`;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the program ran off its end");
}

const on =
  (filter: SyscallFilter) =>
  (call: Syscall, ...args: number[]) =>
    judge(assembleFilter(filter, "x64"), { number: SYSCALL_NUMBERS[call][0], architecture: X64, args });

describe("a hook host's filter", () => {
  const verdict = on(SYSCALL_PROFILES.isolate);

  test.each([
    ["read", [], "allow"],
    ["futex", [], "allow"],
    ["openat", [], "allow"],
    ["socket", [1, 1, 0], "errno 1"],
    ["ptrace", [], "errno 1"],
    ["mount", [], "errno 1"],
    ["io_uring_setup", [], "errno 38"],
    ["clone3", [], "errno 38"],
    ["clone", [0x3d0f00], "allow"],
    ["clone", [17], "errno 1"],
    ["clone", [0x100 | 0x4000], "errno 1"],
    ["mmap", [0, 4096, 3, 0x22], "allow"],
    ["mmap", [0, 4096, 5, 0x2], "allow"],
    ["mmap", [0, 4096, 7, 0x22], "errno 1"],
    ["mprotect", [0, 4096, 3], "allow"],
    ["mprotect", [0, 4096, 5], "errno 1"],
  ] as const)("says to %s(%j): %s", (call, args, expected) => {
    expect(verdict(call, ...args)).toBe(expected);
  });

  test("lets a JIT make code only where a JIT was asked for", () => {
    expect(on(SYSCALL_PROFILES["isolate-jit"])("mprotect", 0, 4096, 7)).toBe("allow");
    expect(on(SYSCALL_PROFILES["isolate-jit"])("socket", 2, 1, 0)).toBe("errno 1");
  });
});

describe("a program's filter", () => {
  const verdict = on(SYSCALL_PROFILES.program);

  test.each([
    ["read", [], "allow"],
    ["clone", [17], "allow"],
    ["clone", [0x10000011], "errno 1"],
    ["unshare", [0x400], "allow"],
    ["unshare", [0x10000000], "errno 1"],
    ["unshare", [0x80], "errno 1"],
    ["socket", [1, 1, 0], "allow"],
    ["socket", [10, 1, 0], "allow"],
    ["socket", [16, 3, 0], "allow"],
    ["socket", [40, 1, 0], "errno 97"],
    ["socket", [17, 3, 0], "errno 97"],
    ["ioctl", [0, 0x5401], "allow"],
    ["ioctl", [0, 0x5412], "errno 1"],
    ["ioctl", [0, 0x541c], "errno 1"],
    ["personality", [0xffffffff], "allow"],
    ["personality", [0x0040000], "errno 1"],
    ["bpf", [], "errno 38"],
    ["setns", [], "errno 1"],
  ] as const)("says to %s(%j): %s", (call, args, expected) => {
    expect(verdict(call, ...args)).toBe(expected);
  });
});

test("calls in the numbering of another architecture, and of x32, end the process", () => {
  const program = assembleFilter(SYSCALL_PROFILES.program, "x64");
  expect(judge(program, { number: 0, architecture: ARM64 })).toBe("kill");
  expect(judge(program, { number: 0x40000000, architecture: X64 })).toBe("kill");
  expect(judge(program, { number: 0xffffffff, architecture: X64 })).toBe("kill");
});

test("on arm64 the same rules speak of its own numbers", () => {
  const program = assembleFilter(SYSCALL_PROFILES.isolate, "arm64");
  const says = (number: number, ...args: number[]) => judge(program, { number, architecture: ARM64, args });
  expect(says(63)).toBe("allow"); // read
  expect(says(198, 2, 1, 0)).toBe("errno 1"); // socket
  expect(says(220, 0x3d0f00)).toBe("allow"); // clone, of a thread
  expect(says(220, 17)).toBe("errno 1"); // clone, of a process
});
