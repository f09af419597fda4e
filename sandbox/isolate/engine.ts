import type { JsonValue } from "@bufbuild/protobuf";
import type { Failure } from "../../core/domain/failure.ts";
import type { BrokerContext, Capabilities } from "../broker/capabilities.ts";
import type { HeardSignal, Terminals, TestNews, TestOrder } from "../guest/guest-protocol.ts";
import type { ScriptProgram } from "../program/script-program.ts";
import type { ErrorText } from "../program/stack-reader.ts";

/** What a script is told at the start, and says beside what a hook says. */
export type ScriptEars = {
  readonly terminals: Terminals;
  readonly tests?: TestOrder;
  /** Bytes that it prints as they are. */
  bytes(to: "stdout" | "stderr", bytes: Uint8Array): void;
  test(news: TestNews): void;
};

/** What a guest is made of. */
export type GuestPlan = {
  /** For people: the hook's or the script's name. */
  readonly name: string;
  readonly program: ScriptProgram;
  readonly args: readonly string[];
  /** Where its relative paths start. */
  readonly cwd: string;
  /** Made when the guest is opened, closed with it. */
  capabilities(): Capabilities;
  /** What it prints; a piece, line ends included. */
  log(to: "stdout" | "stderr", text: string): void;
  /** An error that nothing in the guest caught. */
  fault(error: ErrorText): void;
  /** What only scripts have; a hook's words of the kind are heard by nobody. */
  readonly script?: ScriptEars;
  /** Its process had to be killed, and it is to blame, while it was asked nothing that could be told of it. */
  killed(failure: Failure): void;
};

/** One event for one hook in one conversation. */
export type Firing = {
  /** Its trust group: guests of one group share a process, and no others do. */
  readonly group: string;
  /** One isolate has this name within the group: a script in a conversation. */
  readonly guest: string;
  readonly plan: GuestPlan;
  readonly event: JsonValue;
  /** Wall time from the moment it gets its turn, without the time a question waits for a person. */
  readonly timeoutMs: number;
  readonly context: BrokerContext;
  readonly signal: AbortSignal;
};

/** `killed`: its process had to be killed, and it is to blame. The message goes on after the guest's name. */
export type Fired =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly failure: Failure; readonly killed: boolean };

export type ScriptOrder = {
  readonly plan: GuestPlan;
  /** With a JIT, where the OS sandbox keeps its memory in bounds. */
  readonly jit: boolean;
  readonly memoryMib: number;
  readonly timeLimitMs: number;
  readonly context: BrokerContext;
  exit(code: number): void;
};

/** A script that runs alone in a process. */
export type ScriptRun = {
  /** Settles when it has run to its end, timers included, with its exit code, or cannot go on. */
  readonly ended: Promise<Fired>;
  /** Tells it a signal that it listens to. */
  signal(name: HeardSignal): void;
  /** Stops or goes on reading what it says; it waits meanwhile. */
  pause(paused: boolean): void;
  /** Kills it; resolves when its process is gone. */
  kill(): Promise<void>;
};

/** Isolates in confined processes. Nothing is started before it is needed. */
export type Engine = {
  /** Never rejects. */
  fire(firing: Firing): Promise<Fired>;
  /** Drops a guest that will not be needed again. */
  forget(group: string, guest: string): void;
  run(order: ScriptOrder): ScriptRun;
  /** Kills all processes, and waits until they are gone. */
  close(): Promise<void>;
};
