/** `Deno.ChildProcess`. Part of a library; runs inside the isolate. */

import type { AbortSignal } from "./abort.ts";
import type { CommandPlan } from "./deno-command-plan.ts";
import { bareStatus, type CommandStatus, commandOutput, readAll, SIGNALS, withReaders } from "./deno-command-status.ts";
import type { LibraryParts } from "./deno-library.ts";
import { type ByteReader, type ByteWriter, readableOf, writableOf } from "./deno-streams.ts";
import type { Handle } from "./guest-protocol.ts";

const PIECE_BYTES = 64 * 1024;
/** Bytes that go to a child in one call. */
const CALL_PIECE_BYTES = 1024 * 1024;

const { hasOwn } = Object;

export function denoChildProcess(parts: LibraryParts) {
  const { call, denoError, hold, write, notOffered, base64OfBytes, bytesOfBase64, AbortController: Controller } = parts;

  /** What the child prints goes where the script prints. */
  async function passOn(handle: Promise<Handle>, from: "stdout" | "stderr"): Promise<void> {
    for (;;) {
      const piece = await call("commandRead", { handle: await handle, from });
      if (piece === null) return;
      write(from, bytesOfBase64(piece));
    }
  }

  /** What the script would read goes to the child, until that ends. */
  async function passIn(handle: Promise<Handle>, ended: AbortSignal): Promise<void> {
    const child = await handle;
    for (;;) {
      const data = await call("inputRead", { bytes: PIECE_BYTES }, ended);
      await call("commandWrite", { handle: child, data });
      if (data === null) return;
    }
  }

  class ChildProcess {
    readonly #plan: CommandPlan;
    readonly #handle: Promise<Handle>;
    readonly #status: Promise<CommandStatus>;
    readonly #streams: Partial<Record<"stdout" | "stderr", ByteReader>> = {};
    readonly #stdin: ByteWriter | undefined;
    /** How much of it is still to end, itself and the streams that are read: with the last the broker forgets it. */
    #left = 1;
    #killedBy: string | undefined;
    #isOver = false;
    /** Nobody reads what it prints any more. */
    #isDropped = false;

    constructor(plan: CommandPlan) {
      this.#plan = plan;
      this.#handle = call("commandStart", { ...plan.order, stdin: plan.stdin !== "null" });
      hold(1);
      const ended = new Controller();
      const passed = (["stdout", "stderr"] as const).map((from) => this.#offer(from));
      if (plan.stdin === "piped") this.#stdin = this.#input();
      // Its end, or the child's, ends it.
      else if (plan.stdin === "inherit") passIn(this.#handle, ended.signal).catch(() => {});
      this.#status = this.#wait(passed).finally(() => ended.abort());
      // Whoever waits for it hears of it; for the others it is not an error that nothing caught.
      this.#status.catch(() => {});
      plan.signal?.addEventListener("abort", () => this.#isOver || this.kill());
      if (plan.signal?.aborted) this.kill();
    }
    async #wait(passed: readonly Promise<void>[]): Promise<CommandStatus> {
      try {
        const { code, signal } = await call("commandWait", { handle: await this.#handle });
        await Promise.all(passed);
        const killedBy = this.#killedBy;
        // The broker kills in its own way, and the child ends with that.
        if (killedBy !== undefined && (signal !== null || code === 128 + (SIGNALS.SIGKILL ?? 0)))
          return bareStatus({ success: false, code: 128 + (SIGNALS[killedBy] ?? 0), signal: killedBy });
        // In its box a signal is the code of who waited for it there.
        if (this.#isDropped && code === 128 + (SIGNALS.SIGPIPE ?? 0))
          return bareStatus({ success: false, code, signal: "SIGPIPE" });
        return bareStatus({ success: code === 0, code, signal });
      } finally {
        this.#isOver = true;
        hold(-1);
        this.#leave();
      }
    }
    #offer(from: "stdout" | "stderr"): Promise<void> {
      const pipe = this.#plan[from] ?? "inherit";
      if (pipe === "inherit") {
        const passed = passOn(this.#handle, from);
        passed.catch(() => {});
        return passed;
      }
      if (pipe === "null") return this.#drop(from);
      const read = async () => {
        const piece = await call("commandRead", { handle: await this.#handle, from });
        return piece === null ? null : bytesOfBase64(piece);
      };
      this.#left += 1;
      const cancel = async () => {
        this.#isDropped = true;
        try {
          await call("commandDrop", { handle: await this.#handle, from });
        } catch {
          // It could not be started, which is told to who waits for it.
        }
        this.#leave();
      };
      const source = readableOf({ read, close: () => this.#leave(), cancel });
      this.#streams[from] = withReaders(source, parts.TextDecoder);
      return Promise.resolve();
    }
    #leave(): void {
      this.#left -= 1;
      if (this.#left > 0) return;
      void this.#handle.then((handle) => call("closeHandle", { handle })).catch(() => {});
    }
    async #drop(from: "stdout" | "stderr"): Promise<void> {
      try {
        while ((await call("commandRead", { handle: await this.#handle, from })) !== null);
      } catch {
        // It could not be started, which is told to who waits for it.
      }
    }
    #input(): ByteWriter {
      const send = async (data: string | null) => {
        // It is forgotten where it was: there nobody could say that its pipe is broken.
        if (this.#left > 0) await call("commandWrite", { handle: await this.#handle, data });
        else if (data !== null) throw denoError("BrokenPipe", "Broken pipe (os error 32)");
      };
      return writableOf({
        async write(bytes) {
          for (let at = 0; at < bytes.length; at += CALL_PIECE_BYTES)
            await send(base64OfBytes(bytes.subarray(at, at + CALL_PIECE_BYTES)));
        },
        close: () => send(null),
      });
    }
    #piped<T>(name: "stdin" | "stdout" | "stderr", stream: T | undefined): T {
      if (stream === undefined) throw new TypeError(`Cannot get '${name}': '${name}' is not piped`);
      return stream;
    }
    get pid(): never {
      throw notOffered("Deno.ChildProcess.pid", "process ids of the machine are not shown");
    }
    get stdin(): ByteWriter {
      return this.#piped("stdin", this.#stdin);
    }
    get stdout(): ByteReader {
      return this.#piped("stdout", this.#streams.stdout);
    }
    get stderr(): ByteReader {
      return this.#piped("stderr", this.#streams.stderr);
    }
    get status(): Promise<CommandStatus> {
      return this.#status;
    }
    async output(): Promise<object> {
      const { stdout = "inherit", stderr = "inherit" } = this.#plan;
      const all = (name: "stdout" | "stderr") => {
        const stream = this.#streams[name];
        return stream ? readAll(stream) : Promise.resolve(new Uint8Array(0));
      };
      const [status, out, err] = await Promise.all([this.#status, all("stdout"), all("stderr")]);
      return commandOutput({ ...status, stdout: out, stderr: err }, stdout, stderr);
    }
    kill(signal: unknown = "SIGTERM"): void {
      if (this.#isOver) throw new TypeError("Child process has already terminated");
      if (typeof signal !== "string" || !hasOwn(SIGNALS, signal)) throw new TypeError(`Invalid signal: ${signal}`);
      this.#killedBy ??= signal;
      void this.#handle.then((handle) => call("commandKill", { handle })).catch(() => {});
    }
    /** A guest lives until its last call is answered, whatever it holds of it. */
    ref(): void {}
    unref(): void {}
    async [Symbol.asyncDispose](): Promise<void> {
      if (!this.#isOver) this.kill();
      await this.#status.catch(() => {});
    }
  }
  return ChildProcess;
}
