/** `Deno.Command`. Part of a library; runs inside the isolate. */

import { denoChildProcess } from "./deno-child-process.ts";
import { type CommandPlan, readCommandPlan } from "./deno-command-plan.ts";
import { commandOutput, type EndedCommand, SIGNALS } from "./deno-command-status.ts";
import type { LibraryParts } from "./deno-library.ts";
import type { CommandAnswer } from "./guest-protocol.ts";

export function denoCommand(parts: LibraryParts) {
  const { call, callNow, write, notOffered, bytesOfBase64 } = parts;
  const ChildProcess = denoChildProcess(parts);

  function readAnswer(answer: CommandAnswer): EndedCommand {
    const { code, signal } = answer;
    const [stdout, stderr] = [bytesOfBase64(answer.stdout), bytesOfBase64(answer.stderr)];
    return { success: code === 0, code, signal, stdout, stderr };
  }

  function aborted(): EndedCommand {
    const none = new Uint8Array(0);
    const code = 128 + (SIGNALS.SIGTERM ?? 0);
    return { success: false, code, signal: "SIGTERM", stdout: none, stderr: none };
  }

  function show(ended: EndedCommand, { stdout = "piped", stderr = "piped" }: CommandPlan): object {
    if (stdout === "inherit") write("stdout", ended.stdout);
    if (stderr === "inherit") write("stderr", ended.stderr);
    return commandOutput(ended, stdout, stderr);
  }

  /** One call, because nothing is done with it before its end. */
  async function runToEnd(plan: CommandPlan): Promise<object> {
    let ended: EndedCommand;
    try {
      ended = readAnswer(await call("command", { ...plan.order, stdin: null }, plan.signal));
    } catch (error) {
      if (!plan.signal?.aborted) throw error;
      ended = aborted();
    }
    return show(ended, plan);
  }

  function refusePipe({ stdin }: CommandPlan): void {
    if (stdin === "piped")
      throw new TypeError("Piped stdin is not supported for this function, use 'Deno.Command.spawn()' instead");
  }

  class Command {
    readonly #plan: CommandPlan;

    constructor(program: unknown, options?: unknown) {
      this.#plan = readCommandPlan(program, options, parts.pathText);
    }
    async output(): Promise<object> {
      const plan = this.#plan;
      refusePipe(plan);
      if (plan.stdin === "inherit") return this.#spawnForOutput().output();
      return runToEnd(plan);
    }
    #spawnForOutput(): InstanceType<typeof ChildProcess> {
      const plan = this.#plan;
      return new ChildProcess({ ...plan, stdout: plan.stdout ?? "piped", stderr: plan.stderr ?? "piped" });
    }
    spawn(): InstanceType<typeof ChildProcess> {
      return new ChildProcess(this.#plan);
    }
    outputSync(): object {
      const plan = this.#plan;
      refusePipe(plan);
      // What the script reads would have to be handed on piece by piece, by a script that stands still.
      if (plan.stdin === "inherit")
        throw notOffered("outputSync with an inherited stdin", "use await command.output()");
      const ended = plan.signal?.aborted ? aborted() : readAnswer(callNow("command", { ...plan.order, stdin: null }));
      return show(ended, plan);
    }
  }
  return { ChildProcess, Command };
}
