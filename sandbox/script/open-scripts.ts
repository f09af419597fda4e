import { basename, extname } from "node:path";
import type { ScriptNews, ScriptRequest, ScriptRunner, ScriptTestNews } from "../../core/domain/admin.ts";
import type { Result } from "../../core/domain/failure.ts";
import { type Failure, fail } from "../../core/domain/failure.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";
import { showableLine } from "../../core/domain/showable.ts";
import { type GroundedGrant, groundGrant } from "../broker/ground-grant.ts";
import { type CapabilityOptions, openCapabilities } from "../broker/open-capabilities.ts";
import type { DenoOptions } from "../deno/deno-run.ts";
import type { TestNews } from "../guest/guest-protocol.ts";
import type { Engine, Fired } from "../isolate/engine.ts";
import { check } from "../permission/grant.ts";
import { buildProgram, type ScriptProgram } from "../program/script-program.ts";
import type { ErrorText } from "../program/stack-reader.ts";
import { beginDenoScript, type RunningScript } from "./deno-script.ts";
import { type Newsroom, newsroom } from "./newsroom.ts";
import { scriptGrant } from "./script-grant.ts";
import { scriptInputs } from "./script-input.ts";
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
/** What Deno runs beside those. */
const DENO_EXTENSIONS = [...EXTENSIONS, ".tsx", ".jsx", ".cts", ".cjs"];
const RUNTIMES = ["isolate", "deno"] as const;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

const NO_TERMINALS = { stdin: false, stdout: false, stderr: false };

/** What runs scripts: our own isolates, or the person's own Deno with the daemon as the broker of its permissions. */
export type ScriptRuntime = (typeof RUNTIMES)[number];

export type ScriptsOptions = {
  readonly engine: Engine;
  /** For scripts that name none. */
  readonly runtime: ScriptRuntime;
  readonly deno: Pick<DenoOptions, "program" | "socketsDir">;
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
type Ready = { readonly request: ScriptRequest; readonly grant: GroundedGrant };
/** Starts it; what it prints, asks and ends with goes to the room. */
type Begin = (room: Newsroom, asking: RunQuestions) => RunningScript;

function checkLimits({ timeLimitMs, memoryLimitMib }: ScriptRequest): Failure | undefined {
  if (timeLimitMs > TIME_LIMIT_MAX_MS)
    return fail("invalid", `a time limit of ${timeLimitMs} ms is more than ${TIME_LIMIT_MAX_MS} ms`).failure;
  if (memoryLimitMib !== 0 && (memoryLimitMib < MEMORY_LIMIT_MIN_MIB || memoryLimitMib > MEMORY_LIMIT_MAX_MIB)) {
    const range = `${MEMORY_LIMIT_MIN_MIB} to ${MEMORY_LIMIT_MAX_MIB} MiB`;
    return fail("invalid", `a memory limit of ${memoryLimitMib} MiB is outside ${range}`).failure;
  }
  return undefined;
}

function limitsOf({ timeLimitMs, memoryLimitMib }: ScriptRequest): { timeLimitMs: number; memoryMib: number } {
  return {
    timeLimitMs: timeLimitMs === 0 ? TIME_LIMIT_MS : timeLimitMs,
    memoryMib: memoryLimitMib === 0 ? MEMORY_LIMIT_MIB : memoryLimitMib,
  };
}

function checkName(file: string, runtime: ScriptRuntime): Failure | undefined {
  const names = runtime === "deno" ? DENO_EXTENSIONS : EXTENSIONS;
  if (names.includes(extname(file))) return undefined;
  return fail("invalid", `${file} is no script: its name ends in none of ${names.join(" ")}`).failure;
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

/** A failed test's error as text, its stack in the script's own lines. */
function testNews(news: TestNews, program: ScriptProgram): ScriptTestNews {
  if (news.at === "plan") return news;
  const path = news.path.map(showableLine);
  if (news.at === "begun") return { ...news, path };
  return { ...news, path, error: news.error === null ? "" : program.explain(news.error).full };
}

/** Runs scripts for people, each alone in a process. Opening starts nothing. */
export function openScripts(options: ScriptsOptions): Scripts {
  const { engine, broker } = options;
  const questions = scriptQuestions(options.wallClock, options.newId);
  const inputs = scriptInputs(options.newId);
  const running = new Set<RunningScript>();

  function beginDeno({ request, grant }: Ready, room: Newsroom, asking: RunQuestions): RunningScript {
    const context = { record: options.record, ask: asking.ask };
    return beginDenoScript(
      request,
      { ...limitsOf(request), grant, context },
      { ...broker, ...options.deno },
      inputs,
      room,
      failureText,
    );
  }

  function beginIsolate(
    { request, grant }: Ready,
    program: ScriptProgram,
    room: Newsroom,
    asking: RunQuestions,
  ): RunningScript {
    const { file, folder, args, attended, terminals = NO_TERMINALS, tests } = request;
    const input = inputs.open({
      wanted: (runId, limitBytes) => room.publish({ kind: "input", runId, limitBytes }),
      listening: (runId, names) => room.publish({ kind: "signals", runId, names }),
      signal: (name) => script.signal(name),
    });
    const script = engine.run({
      plan: {
        script: {
          ...{ terminals, ...(tests && { tests }) },
          bytes: (to, bytes) => room.publish({ kind: "bytes", to, bytes }),
          test: (news) => room.publish({ kind: "test", news: testNews(news, program) }),
        },
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
            input,
          }),
        log: (to, text) => room.publish({ kind: to, text: program.explainPrinted(text) }),
        fault(error) {
          room.publish({ kind: "stderr", text: `error: Uncaught ${error.full}\n` });
          room.exit(EXIT_FAILED);
        },
      },
      jit: broker.launcher.level !== "none",
      ...limitsOf(request),
      context: { record: options.record, ask: asking.ask },
      exit: (code) => room.exit(code),
    });
    void script.ended.then((outcome) => {
      input.close();
      reportEnd(room, outcome);
    });
    return script;
  }

  async function* runReady(begin: Begin, signal: AbortSignal): AsyncGenerator<ScriptNews> {
    let script: RunningScript | undefined;
    const room = newsroom((held) => script?.pause(held));
    const asking = questions.open((asked) => room.publish({ kind: "question", ...asked }));
    const interrupt = () => room.exit(EXIT_INTERRUPTED);
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      if (signal.aborted) interrupt();
      script = begin(room, asking);
      running.add(script);
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

  /** Undefined for a runtime that is none. Tests are our own runtime's alone. */
  function runtimeOf(request: ScriptRequest): ScriptRuntime | undefined {
    if (request.tests) return "isolate";
    return request.runtime === "" ? options.runtime : RUNTIMES.find((known) => known === request.runtime);
  }

  async function* run(request: ScriptRequest, signal: AbortSignal): AsyncGenerator<ScriptNews> {
    const runtime = runtimeOf(request);
    if (runtime === undefined) {
      const wrong = fail(
        "invalid",
        `there is no runtime "${showableLine(request.runtime)}", only ${RUNTIMES.join(" and ")}`,
      );
      return yield* refuse(wrong.failure, EXIT_USAGE);
    }
    const wrongName = checkName(request.file, runtime);
    if (wrongName) return yield* refuse(wrongName, EXIT_USAGE);
    const tooMuch = checkLimits(request);
    if (tooMuch) return yield* refuse(tooMuch, EXIT_USAGE);
    const grant = scriptGrant(request);
    if (!grant.ok) return yield* refuse(grant.failure, EXIT_USAGE);
    const program = runtime === "isolate" ? await buildProgram(request.file, request.importMap) : undefined;
    if (program?.ok === false) return yield* refuse(program.failure, EXIT_FAILED);
    const ready = { request, grant: await groundGrant(grant.value, broker.searchPath) };
    // Nothing is awaited from here until it counts as running.
    if (running.size >= SCRIPTS_MAX) {
      const hint = "try again when one of them has ended";
      return yield* refuse(fail("exhausted", `${SCRIPTS_MAX} scripts run already`, { hint }).failure, EXIT_FAILED);
    }
    const begin: Begin = (room, asking) =>
      program ? beginIsolate(ready, program.value, room, asking) : beginDeno(ready, room, asking);
    yield* runReady(begin, signal);
  }

  return {
    run,
    answer: questions.answer,
    feed: inputs.feed,
    async close() {
      await Promise.all([...running].map((script) => script.kill()));
    },
  };
}
