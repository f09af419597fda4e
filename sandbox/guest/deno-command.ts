/**
 * `Deno.Command`. The broker runs a command to its end and answers once, so a child that was spawned begins when all of
 * its input is there, and what it prints comes when it has ended. Runs inside the isolate.
 */

import { AbortController, type AbortSignal } from "./abort.ts";
import { base64OfBytes, bytesOfBase64 } from "./base64.ts";
import type { Call } from "./broker-call.ts";
import { joinBytes } from "./buffer-source.ts";
import { notOffered } from "./deno-errors.ts";
import { pathText } from "./deno-path.ts";
import type { CommandOrder } from "./guest-protocol.ts";
import { TextDecoder, TextEncoder } from "./guest-text.ts";

type Pipe = "piped" | "inherit" | "null";
type Status = { readonly success: boolean; readonly code: number; readonly signal: string | null };
type Ended = Status & { readonly stdout: Uint8Array; readonly stderr: Uint8Array };
type Print = (to: "stdout" | "stderr", text: string) => void;

/** Everything of a command but its input. */
type Plan = {
  readonly order: Omit<CommandOrder, "stdin">;
  readonly stdin: Pipe;
  readonly stdout: Pipe | undefined;
  readonly stderr: Pipe | undefined;
  readonly signal: AbortSignal | undefined;
};

/** Signals that can be named to `kill`, with their numbers: a shell's exit code is 128 more. */
const SIGNALS: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };
const NOTHING = new Uint8Array(0);

const { hasOwn, defineProperty, keys } = Object;
const { isArray } = Array;

function textOf(value: unknown, what: string): string {
  if (typeof value !== "string") throw new TypeError(`${what} must be a string`);
  return value;
}

function pipeOf(value: unknown, what: string): Pipe | undefined {
  if (value === undefined || value === "piped" || value === "inherit" || value === "null") return value;
  throw new TypeError(`${what} must be "piped", "inherit" or "null"`);
}

function readPlan(program: unknown, given: unknown): Plan {
  const options = (typeof given === "object" && given !== null ? given : {}) as Record<string, unknown>;
  const args: string[] = [];
  const wanted = options.args ?? [];
  if (!isArray(wanted)) throw new TypeError("args must be an array of strings");
  for (let at = 0; at < wanted.length; at += 1) args[at] = textOf(wanted[at], `args[${at}]`);
  const env: Record<string, string> = {};
  const variables = (options.env ?? {}) as Record<string, unknown>;
  const names = keys(variables);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] ?? "";
    env[name] = textOf(variables[name], `env.${name}`);
  }
  return {
    order: {
      program: pathText(program),
      args,
      cwd: options.cwd === undefined || options.cwd === null ? null : pathText(options.cwd),
      env,
      clearEnv: options.clearEnv === true,
    },
    // There is nothing to inherit: the guest itself reads from nothing.
    stdin: pipeOf(options.stdin, "stdin") ?? "null",
    stdout: pipeOf(options.stdout, "stdout"),
    stderr: pipeOf(options.stderr, "stderr"),
    signal: options.signal as AbortSignal | undefined,
  };
}

/** What Deno gives for output: reading a stream that was not piped throws. */
function commandOutput(ended: Ended, stdout: Pipe, stderr: Pipe): object {
  const { success, code, signal } = ended;
  const output = { success, code, signal };
  const offer = (name: "stdout" | "stderr", pipe: Pipe) =>
    defineProperty(output, name, {
      get() {
        if (pipe !== "piped") throw new TypeError(`Cannot get '${name}': '${name}' is not piped`);
        return ended[name];
      },
      enumerable: true,
      configurable: true,
    });
  offer("stdout", stdout);
  offer("stderr", stderr);
  return output;
}

/** The parts of a stream of bytes that make sense when all of it comes at once. */
function outputStream(bytes: Promise<Uint8Array>) {
  const text = async () => new TextDecoder().decode(await bytes);
  return {
    text,
    json: async () => JSON.parse(await text()) as unknown,
    bytes: () => bytes,
    arrayBuffer: async () => (await bytes).slice().buffer,
    async *[Symbol.asyncIterator]() {
      const all = await bytes;
      if (all.length > 0) yield all;
    },
  };
}

/** Collects what a guest writes; `done` gets all of it when it closes. */
function inputStream(done: (bytes: Uint8Array) => void) {
  const encoder = new TextEncoder();
  const chunks: Uint8Array[] = [];
  let closed = false;
  async function write(chunk: unknown): Promise<void> {
    if (closed) throw new TypeError("The stream is closing or is closed");
    const bytes = typeof chunk === "string" ? encoder.encode(chunk) : chunk;
    if (!(bytes instanceof Uint8Array)) throw new TypeError("expected type `Uint8Array`");
    chunks[chunks.length] = bytes.slice();
  }
  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    done(joinBytes(chunks));
  }
  const writer = { write, close, releaseLock: () => {}, ready: Promise.resolve() };
  return { close, getWriter: () => writer };
}

export function denoCommand(call: Call, print: Print) {
  const decoder = new TextDecoder();

  async function execute(
    plan: Plan,
    input: Uint8Array | null,
    stop: AbortController,
    killedBy: () => string,
  ): Promise<Ended> {
    const { stdout = "inherit", stderr = "inherit", order } = plan;
    try {
      const stdin = input === null ? null : base64OfBytes(input);
      const answer = await call("command", { ...order, stdin }, stop.signal);
      const out = bytesOfBase64(answer.stdout);
      const err = bytesOfBase64(answer.stderr);
      if (stdout === "inherit" && out.length > 0) print("stdout", decoder.decode(out));
      if (stderr === "inherit" && err.length > 0) print("stderr", decoder.decode(err));
      const { code, signal } = answer;
      return { success: code === 0, code, signal, stdout: out, stderr: err };
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      const signal = killedBy();
      return { success: false, code: 128 + (SIGNALS[signal] ?? 0), signal, stdout: NOTHING, stderr: NOTHING };
    }
  }

  class ChildProcess {
    readonly #ended: Promise<Ended>;
    readonly #stop = new AbortController();
    readonly #plan: Plan;
    readonly #stdin: ReturnType<typeof inputStream> | undefined;
    #killedBy = "SIGTERM";
    #over = false;

    constructor(plan: Plan) {
      this.#plan = plan;
      const input = Promise.withResolvers<Uint8Array | null>();
      if (plan.stdin === "piped") this.#stdin = inputStream(input.resolve);
      else input.resolve(null);
      this.#ended = this.#run(input.promise);
      // Whoever waits for it hears of it; for the others it is not an error that nothing caught.
      this.#ended.catch(() => {});
      plan.signal?.addEventListener("abort", () => this.#over || this.#stop.abort());
      if (plan.signal?.aborted) this.#stop.abort();
    }
    async #run(input: Promise<Uint8Array | null>): Promise<Ended> {
      try {
        const killed = new Promise<null>((resolve) => this.#stop.signal.addEventListener("abort", () => resolve(null)));
        return await execute(this.#plan, await Promise.race([input, killed]), this.#stop, () => this.#killedBy);
      } finally {
        this.#over = true;
      }
    }
    #piped(name: "stdin" | "stdout" | "stderr"): void {
      if (this.#plan[name] !== "piped") throw new TypeError(`Cannot get '${name}': '${name}' is not piped`);
    }
    get pid(): never {
      throw notOffered("Deno.ChildProcess.pid", "process ids of the machine are not shown");
    }
    get stdin() {
      this.#piped("stdin");
      return this.#stdin;
    }
    get stdout() {
      this.#piped("stdout");
      return outputStream(this.#ended.then(({ stdout }) => stdout));
    }
    get stderr() {
      this.#piped("stderr");
      return outputStream(this.#ended.then(({ stderr }) => stderr));
    }
    get status(): Promise<Status> {
      return this.#ended.then(({ success, code, signal }) => ({ success, code, signal }));
    }
    async output(): Promise<object> {
      const { stdout = "inherit", stderr = "inherit" } = this.#plan;
      return commandOutput(await this.#ended, stdout, stderr);
    }
    kill(signal: unknown = "SIGTERM"): void {
      if (this.#over) throw new TypeError("Child process has already terminated");
      if (typeof signal !== "string" || !hasOwn(SIGNALS, signal)) throw new TypeError(`Invalid signal: ${signal}`);
      this.#killedBy = signal;
      this.#stop.abort();
    }
    /** A guest lives until its last call is answered, whatever it holds of it. */
    ref(): void {}
    unref(): void {}
  }

  class Command {
    readonly #plan: Plan;

    constructor(program: unknown, options?: unknown) {
      this.#plan = readPlan(program, options);
    }
    async output(): Promise<object> {
      const plan = this.#plan;
      if (plan.stdin === "piped")
        throw new TypeError("Piped stdin is not supported for this function, use 'Deno.Command.spawn()' instead");
      return new ChildProcess({ ...plan, stdout: plan.stdout ?? "piped", stderr: plan.stderr ?? "piped" }).output();
    }
    spawn(): ChildProcess {
      return new ChildProcess(this.#plan);
    }
    outputSync(): never {
      throw notOffered("Deno.Command.outputSync", "use await new Deno.Command(…).output()");
    }
  }
  return Command;
}
