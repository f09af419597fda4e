import type { ScriptRequest } from "../../core/domain/admin.ts";
import type { Failure } from "../../core/domain/failure.ts";
import { type DenoOptions, type DenoOrder, startDeno } from "../deno/deno-run.ts";
import { HEARD_SIGNALS } from "../guest/guest-protocol.ts";
import type { ScriptRun } from "../isolate/engine.ts";
import type { Newsroom } from "./newsroom.ts";
import type { ScriptInputs } from "./script-input.ts";

/** A script under way, whatever runs it. */
export type RunningScript = Pick<ScriptRun, "pause" | "kill">;

const EXIT_FAILED = 1;

/** What Deno is told beside what the request says. */
export type DenoStart = Pick<DenoOrder, "grant" | "timeLimitMs" | "memoryMib" | "context">;

/** Begins to start a script in the person's own Deno; what comes of it is told to the room, the exit code last. */
export function beginDenoScript(
  { file, folder, args, attended, importMap = "", terminals }: ScriptRequest,
  start: DenoStart,
  options: DenoOptions,
  inputs: ScriptInputs,
  room: Newsroom,
  explain: (failure: Failure) => string,
): RunningScript {
  const input = inputs.open({
    wanted: (runId, limitBytes) => room.publish({ kind: "input", runId, limitBytes }),
    listening: (runId, names) => room.publish({ kind: "signals", runId, names }),
    signal: (name) => void run.then((deno) => deno?.signal(name)),
  });
  // Deno does not say when it reads: of a terminal it would take what is typed for somebody else.
  const piped = terminals?.stdin === true ? undefined : input;
  const order = { ...start, file, folder, args, attended, importMap, print, input: piped };
  const started = startDeno(order, options);
  const run = started.then((done) => (done.ok ? done.value : undefined));

  function print(kind: "stdout" | "stderr", text: string): void {
    room.publish({ kind, text });
  }

  async function tellEnd(): Promise<void> {
    const done = await started;
    if (done.ok) for (const signal of HEARD_SIGNALS) input.listen(signal, true);
    else print("stderr", explain(done.failure));
    const code = done.ok ? await done.value.ended : EXIT_FAILED;
    input.close();
    room.exit(code);
  }

  void tellEnd();
  return {
    pause: (paused) => void run.then((deno) => deno?.pause(paused)),
    kill: async () => (await run)?.kill(),
  };
}
