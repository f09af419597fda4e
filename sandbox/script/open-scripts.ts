import { basename, extname } from "node:path";
import type { ScriptNews, ScriptRequest, ScriptRunner } from "../../core/domain/admin.ts";
import type { Result } from "../../core/domain/failure.ts";
import { type Failure, fail } from "../../core/domain/failure.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";
import { type GroundedGrant, groundGrant } from "../broker/ground-grant.ts";
import { type CapabilityOptions, openCapabilities } from "../broker/open-capabilities.ts";
import type { Engine, Fired, ScriptRun } from "../isolate/engine.ts";
import { check } from "../permission/grant.ts";
import { buildProgram, type ScriptProgram } from "../program/script-program.ts";
import type { ErrorText } from "../program/stack-reader.ts";
import { type Newsroom, newsroom } from "./newsroom.ts";
import { scriptGrant } from "./script-grant.ts";
import { type RunQuestions, scriptQuestions } from "./script-questions.ts";

/** Wall time of a script that names no other, milliseconds, and the most it may name. */
const TIME_LIMIT_MS = 60_000;
const TIME_LIMIT_MAX_MS = 24 * 60 * 60 * 1000;
/** Heap of a script that names no other, MiB, and what it may name: it has a process to itself. */
const MEMORY_LIMIT_MIB = 128;
const MEMORY_LIMIT_MIN_MIB = 8;
const MEMORY_LIMIT_MAX_MIB = 512;
const SCRIPTS_MAX = 8;
const EXTENSIONS = [".ts", ".mts", ".js", ".mjs"];
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

export type ScriptsOptions = {
  readonly engine: Engine;
  /** What all scripts may reach of the machine, as far as they are granted it. */
  readonly broker: Pick<
    CapabilityOptions,
    "env" | "searchPath" | "launcher" | "egress" | "protectedWrite" | "hidden" | "now" | "sysFacts"
  >;
  /** Makes a decision about a permission durable; when that fails, what it allows is not done. */
  readonly record: (decision: PermissionDecision) => Promise<Result<void>>;
  /** The time of day, milliseconds since 1970. */
  readonly wallClock: () => number;
  readonly newId: () => string;
};

export type Scripts = ScriptRunner & {
  /** Kills what runs, and waits until it is gone. */
  close(): Promise<void>;
};

/** A script that was looked at and may run. */
type Ready = { readonly request: ScriptRequest; readonly grant: GroundedGrant; readonly program: ScriptProgram };

function checkLimits({ timeLimitMs, memoryLimitMib }: ScriptRequest): Failure | undefined {
  if (timeLimitMs > TIME_LIMIT_MAX_MS)
    return fail("invalid", `a time limit of ${timeLimitMs} ms is more than ${TIME_LIMIT_MAX_MS} ms`).failure;
  if (memoryLimitMib !== 0 && (memoryLimitMib < MEMORY_LIMIT_MIN_MIB || memoryLimitMib > MEMORY_LIMIT_MAX_MIB)) {
    const range = `${MEMORY_LIMIT_MIN_MIB} to ${MEMORY_LIMIT_MAX_MIB} MiB`;
    return fail("invalid", `a memory limit of ${memoryLimitMib} MiB is outside ${range}`).failure;
  }
  return undefined;
}

function failureText({ message, hint }: Failure): string {
  return `error: ${message}\n${hint === undefined ? "" : `${hint}\n`}`;
}

async function* refuse(failure: Failure, code: number): AsyncGenerator<ScriptNews> {
  yield { kind: "stderr", text: failureText(failure) };
  yield { kind: "exit", code };
}

function isErrorText(cause: unknown): cause is ErrorText {
  return typeof cause === "object" && cause !== null && "full" in cause;
}

/** Says how a script ended, in Deno's words where Deno has them. */
function reportEnd(room: Newsroom, outcome: Fired): void {
  if (outcome.ok) {
    room.exit(Number(outcome.value));
    return;
  }
  const { failure } = outcome;
  // The module's own promise is what an error of its top level rejects.
  const text = isErrorText(failure.cause)
    ? `error: Uncaught (in promise) ${failure.cause.full}\n`
    : failureText({ ...failure, message: `the script ${failure.message}` });
  room.publish({ kind: "stderr", text });
  room.exit(EXIT_FAILED);
}

/** Runs scripts for people, each alone in a process. Opening starts nothing. */
export function openScripts(options: ScriptsOptions): Scripts {
  const { engine, broker } = options;
  const questions = scriptQuestions(options.wallClock, options.newId);
  const running = new Set<ScriptRun>();

  function start({ request, grant, program }: Ready, room: Newsroom, asking: RunQuestions): ScriptRun {
    const { file, folder, args, timeLimitMs, memoryLimitMib, attended } = request;
    return engine.run({
      plan: {
        name: basename(file),
        program,
        args,
        cwd: check(grant, { kind: "read", path: folder }).ok ? folder : "",
        // Its run ends with it, and that is told.
        killed: () => {},
        capabilities: () =>
          openCapabilities({
            ...broker,
            principal: `script:${file}`,
            sourceHash: program.id,
            grant,
            cwd: folder,
            mode: "script",
            mayAsk: attended,
            remembered: [],
          }),
        log: (to, text) => room.publish({ kind: to, text: program.explainPrinted(text) }),
        fault(error) {
          room.publish({ kind: "stderr", text: `error: Uncaught ${error.full}\n` });
          room.exit(EXIT_FAILED);
        },
      },
      jit: broker.launcher.level !== "none",
      memoryMib: memoryLimitMib === 0 ? MEMORY_LIMIT_MIB : memoryLimitMib,
      timeLimitMs: timeLimitMs === 0 ? TIME_LIMIT_MS : timeLimitMs,
      context: { record: options.record, ask: asking.ask },
      exit: (code) => room.exit(code),
    });
  }

  async function* runReady(ready: Ready, signal: AbortSignal): AsyncGenerator<ScriptNews> {
    let script: ScriptRun | undefined;
    const room = newsroom((held) => script?.pause(held));
    const asking = questions.open((asked) => room.publish({ kind: "question", ...asked }));
    const interrupt = () => room.exit(EXIT_INTERRUPTED);
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      if (signal.aborted) interrupt();
      script = start(ready, room, asking);
      running.add(script);
      void script.ended.then((outcome) => reportEnd(room, outcome));
      yield* room.read();
    } finally {
      signal.removeEventListener("abort", interrupt);
      asking.close();
      if (script) {
        await script.kill();
        running.delete(script);
      }
    }
  }

  async function* run(request: ScriptRequest, signal: AbortSignal): AsyncGenerator<ScriptNews> {
    if (!EXTENSIONS.includes(extname(request.file))) {
      const wrong = fail("invalid", `${request.file} is no script: its name ends in none of ${EXTENSIONS.join(" ")}`);
      return yield* refuse(wrong.failure, EXIT_USAGE);
    }
    const tooMuch = checkLimits(request);
    if (tooMuch) return yield* refuse(tooMuch, EXIT_USAGE);
    const grant = scriptGrant(request);
    if (!grant.ok) return yield* refuse(grant.failure, EXIT_USAGE);
    const program = await buildProgram(request.file);
    if (!program.ok) return yield* refuse(program.failure, EXIT_FAILED);
    const grounded = await groundGrant(grant.value, broker.searchPath);
    // Nothing is awaited from here until it counts as running.
    if (running.size >= SCRIPTS_MAX) {
      const hint = "try again when one of them has ended";
      return yield* refuse(fail("exhausted", `${SCRIPTS_MAX} scripts run already`, { hint }).failure, EXIT_FAILED);
    }
    yield* runReady({ request, grant: grounded, program: program.value }, signal);
  }

  return {
    run,
    answer: questions.answer,
    async close() {
      await Promise.all([...running].map((script) => script.kill()));
    },
  };
}
