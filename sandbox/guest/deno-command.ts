/** `Deno.Command`. Part of a library; runs inside the isolate. */

import { denoChildProcess } from "./deno-child-process.ts";
import { type CommandPlan, type Pipe, readCommandPlan } from "./deno-command-plan.ts";
import { commandOutput, type EndedCommand, SIGNALS } from "./deno-command-status.ts";
import type { LibraryParts } from "./deno-library.ts";

export function denoCommand(parts: LibraryParts) {
  const { call, write, notOffered, bytesOfBase64 } = parts;
  const ChildProcess = denoChildProcess(parts);

  /** One call, because nothing is done with it before its end. */
  async function runToEnd(plan: CommandPlan, stdout: Pipe, stderr: Pipe): Promise<object> {
    let ended: EndedCommand;
    try {
      const answer = await call("command", { ...plan.order, stdin: null }, plan.signal);
      const { code, signal } = answer;
      const [out, err] = [bytesOfBase64(answer.stdout), bytesOfBase64(answer.stderr)];
      ended = { success: code === 0, code, signal, stdout: out, stderr: err };
    } catch (error) {
      if (!plan.signal?.aborted) throw error;
      const code = 128 + (SIGNALS.SIGTERM ?? 0);
      const none = new Uint8Array(0);
      ended = { success: false, code, signal: "SIGTERM", stdout: none, stderr: none };
    }
    if (stdout === "inherit") write("stdout", ended.stdout);
    if (stderr === "inherit") write("stderr", ended.stderr);
    return commandOutput(ended, stdout, stderr);
  }

  class Command {
    readonly #plan: CommandPlan;

    constructor(program: unknown, options?: unknown) {
      this.#plan = readCommandPlan(program, options, parts.pathText);
    }
    async output(): Promise<object> {
      const plan = this.#plan;
      if (plan.stdin === "piped")
        throw new TypeError("Piped stdin is not supported for this function, use 'Deno.Command.spawn()' instead");
      if (plan.stdin === "inherit") return this.#spawnForOutput().output();
      return runToEnd(plan, plan.stdout ?? "piped", plan.stderr ?? "piped");
    }
    #spawnForOutput(): InstanceType<typeof ChildProcess> {
      const plan = this.#plan;
      return new ChildProcess({ ...plan, stdout: plan.stdout ?? "piped", stderr: plan.stderr ?? "piped" });
    }
    spawn(): InstanceType<typeof ChildProcess> {
      return new ChildProcess(this.#plan);
    }
    outputSync(): never {
      throw notOffered("Deno.Command.outputSync", "use await new Deno.Command(…).output()");
    }
  }
  return { ChildProcess, Command };
}
