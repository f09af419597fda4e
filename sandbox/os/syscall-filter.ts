import { SYSCALL_NUMBERS, type Syscall } from "./syscall-numbers.ts";

/**
 * A seccomp filter as rules, and as the classic BPF program that the kernel runs before each system call.
 * Arguments are compared by their low 32 bits: every one that the rules look at is an `int` or flags below that.
 */

export type Verdict = "allow" | "kill" | { readonly errno: number };

/** What must hold of one argument, counted from 0. */
export type ArgumentCheck =
  | { readonly argument: number; readonly hasAnyOf: number }
  | { readonly argument: number; readonly hasAllOf: number }
  | { readonly argument: number; readonly isOneOf: readonly number[] };

/** The first rule for a call decides. With `when`, `verdict` holds if every check does, else `otherwise`. */
export type Rule = {
  readonly calls: readonly Syscall[];
  readonly verdict: Verdict;
  readonly when?: readonly ArgumentCheck[];
  readonly otherwise?: Verdict;
};

export type SyscallFilter = {
  readonly rules: readonly Rule[];
  /** For every call that no rule names. */
  readonly others: Verdict;
};

export type Architecture = "x64" | "arm64";

/** `AUDIT_ARCH_…` of the kernel: a filter must refuse calls made in another architecture's numbering. */
const AUDIT_ARCHITECTURE: Readonly<Record<Architecture, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
/** Calls of the x32 interface carry this bit and the same architecture. */
const X32_BIT = 0x4000_0000;

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const AND = 0x54;
const RETURN = 0x06;

const RETURN_ALLOW = 0x7fff_0000;
const RETURN_ERRNO = 0x0005_0000;
const RETURN_KILL_PROCESS = 0x8000_0000;

const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const ARGUMENTS_AT = 16;
const ARGUMENT_BYTES = 8;
const INSTRUCTION_BYTES = 8;

type Instruction = { readonly code: number; readonly onTrue: number; readonly onFalse: number; readonly value: number };

function step(code: number, value: number): Instruction {
  return { code, onTrue: 0, onFalse: 0, value };
}

function jump(code: number, value: number, onTrue: number, onFalse: number): Instruction {
  return { code, onTrue, onFalse, value };
}

function give(verdict: Verdict): Instruction {
  if (verdict === "allow") return step(RETURN, RETURN_ALLOW);
  if (verdict === "kill") return step(RETURN, RETURN_KILL_PROCESS);
  return step(RETURN, RETURN_ERRNO | verdict.errno);
}

/** Falls through when the check holds, and else jumps over what is left of its own instructions and `rest` more. */
function checkInstructions(check: ArgumentCheck, rest: number): Instruction[] {
  const load = step(LOAD_WORD, ARGUMENTS_AT + check.argument * ARGUMENT_BYTES);
  if ("hasAnyOf" in check) return [load, jump(JUMP_ANY_BIT, check.hasAnyOf, 0, rest)];
  if ("hasAllOf" in check) return [load, step(AND, check.hasAllOf), jump(JUMP_EQUAL, check.hasAllOf, 0, rest)];
  const { isOneOf } = check;
  const last = isOneOf.length - 1;
  return [load, ...isOneOf.map((value, index) => jump(JUMP_EQUAL, value, last - index, index === last ? rest : 0))];
}

function ruleInstructions({ verdict, when = [], otherwise = "allow" }: Rule): Instruction[] {
  if (when.length === 0) return [give(verdict)];
  let body = [give(verdict)];
  for (const check of [...when].reverse()) body = [...checkInstructions(check, body.length), ...body];
  return [...body, give(otherwise)];
}

/** The program in the form in which the kernel takes it: 8 bytes an instruction, little endian. */
export function assembleFilter({ rules, others }: SyscallFilter, architecture: Architecture): Buffer {
  const column = architecture === "x64" ? 0 : 1;
  const program: Instruction[] = [
    step(LOAD_WORD, ARCHITECTURE_AT),
    jump(JUMP_EQUAL, AUDIT_ARCHITECTURE[architecture], 1, 0),
    give("kill"),
    step(LOAD_WORD, NUMBER_AT),
  ];
  if (architecture === "x64") program.push(jump(JUMP_AT_LEAST, X32_BIT, 0, 1), give("kill"));
  for (const rule of rules) {
    const body = ruleInstructions(rule);
    for (const call of rule.calls) {
      const number = SYSCALL_NUMBERS[call][column];
      if (number !== null) program.push(jump(JUMP_EQUAL, number, 0, body.length), ...body);
    }
  }
  program.push(give(others));
  return encode(program);
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  program.forEach(({ code, onTrue, onFalse, value }, index) => {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(onTrue, at + 2);
    bytes.writeUInt8(onFalse, at + 3);
    bytes.writeUInt32LE(value >>> 0, at + 4);
  });
  return bytes;
}
