import { extname } from "node:path";
import type { ScriptNews, ScriptRequest, ScriptRunner } from "../../core/domain/admin.ts";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Launcher } from "../os/launcher.ts";
import { type Grant, type Permission, parsePermission } from "../permission/permission.ts";
import { type Environment, viewEnvironment } from "./environment.ts";
import { groundGrant, readForGuest } from "./guest-files.ts";
import { openGuestSession } from "./guest-session.ts";
import { type HostFiles, type HostProcess, startHost } from "./host-process.ts";
import type { IsolateLimits } from "./limits.ts";
import { buildProgram, type ErrorText, type ScriptProgram } from "./script-program.ts";

/** Heap of a script's isolate, MiB: it has its process to itself. */
const SCRIPT_MEMORY_MIB = 128;
/** Pieces of output that may wait for a slow reader; then the script waits. */
const NEWS_WAITING_MAX = 64;
const SCRIPTS_MAX = 8;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

export type ScriptOptions = {
  readonly launcher: Launcher;
  readonly files: HostFiles;
  readonly env: Environment;
  readonly limits: IsolateLimits;
};

function parseAll(texts: readonly string[], flag: string, folder: string): Result<Permission[]> {
  const permissions: Permission[] = [];
  for (const text of texts) {
    const parsed = parsePermission(text, folder);
    if (!parsed.ok) return fail("invalid", `--${flag}-${text}: ${parsed.message}`);
    permissions.push(...parsed.value);
  }
  return ok(permissions);
}

async function readGrant({ allow, deny, folder }: ScriptRequest): Promise<Result<Grant>> {
  const allowed = parseAll(allow, "allow", folder);
  if (!allowed.ok) return allowed;
  const denied = parseAll(deny, "deny", folder);
  if (!denied.ok) return denied;
  return ok(await groundGrant({ allow: allowed.value, deny: denied.value }));
}

function failureText({ message, hint }: Failure): string {
  return `error: ${message}\n${hint === undefined ? "" : `${hint}\n`}`;
}

type Newsroom = {
  publish(news: ScriptNews): void;
  /** Publishes the last news, once. */
  exit(code: number): void;
  read(): AsyncGenerator<ScriptNews>;
};

/** A queue with a reader; `hold` is told when it fills up and when it is empty again. */
function newsroom(hold: (held: boolean) => void): Newsroom {
  let waiting: ScriptNews[] = [];
  let over = false;
  let arrived = Promise.withResolvers<void>();

  function publish(news: ScriptNews): void {
    if (over) return;
    over = news.kind === "exit";
    waiting.push(news);
    if (waiting.length >= NEWS_WAITING_MAX) hold(true);
    arrived.resolve();
  }

  return {
    publish,
    exit: (code) => publish({ kind: "exit", code }),
    async *read() {
      for (;;) {
        await arrived.promise;
        arrived = Promise.withResolvers();
        const batch = waiting;
        waiting = [];
        for (const news of batch) {
          yield news;
          if (news.kind === "exit") return;
        }
        hold(false);
      }
    },
  };
}

/** Opens a script in a process of its own and lets it report to `room`. */
function startScript(
  host: HostProcess,
  request: ScriptRequest,
  program: ScriptProgram,
  grant: Grant,
  room: Newsroom,
  options: ScriptOptions,
): void {
  const { limits, env } = options;
  const uncaught = (error: ErrorText) => {
    room.publish({ kind: "stderr", text: `error: Uncaught ${error.full}\n` });
    room.exit(EXIT_FAILED);
  };
  const session = openGuestSession(host, {
    mode: "script",
    name: request.file,
    program,
    args: request.args,
    env: viewEnvironment(grant, env),
    // It harms nobody but itself by working without a pause: its wall time is its only limit of time.
    limits: { memoryMib: SCRIPT_MEMORY_MIB, sliceMs: limits.scriptMs, stuckMs: limits.stuckMs },
    loadMs: limits.scriptMs,
    loadWallMs: limits.scriptMs,
    wordsMax: 0,
    readFile: (path) => readForGuest(grant, request.folder, path),
    log: (to, text) => room.publish({ kind: to, text }),
    fault: uncaught,
    exit: (code) => room.exit(code),
  });
  void session.loaded.then((outcome) => {
    if (outcome.ok) return room.exit(0);
    const { cause, message } = outcome.failure;
    if (typeof cause === "object" && cause !== null && "full" in cause) return uncaught(cause as ErrorText);
    room.publish({ kind: "stderr", text: `error: the script ${message}\n` });
    room.exit(EXIT_FAILED);
  });
}

/** Runs scripts for people, each in a hook host of its own. `close` kills what runs. */
export function scriptRunner(options: ScriptOptions): ScriptRunner & { close(): Promise<void> } {
  const running = new Set<HostProcess>();

  async function* refuse(failure: Failure, code: number): AsyncGenerator<ScriptNews> {
    yield { kind: "stderr", text: failureText(failure) };
    yield { kind: "exit", code };
  }

  async function* runIn(
    host: HostProcess,
    request: ScriptRequest,
    program: ScriptProgram,
    grant: Grant,
    signal: AbortSignal,
  ): AsyncGenerator<ScriptNews> {
    const room = newsroom((held) => host.pause(held));
    const interrupt = () => room.exit(EXIT_INTERRUPTED);
    signal.addEventListener("abort", interrupt, { once: true });
    running.add(host);
    try {
      if (signal.aborted) interrupt();
      // The time of the script begins when its process is there.
      void host.ready.then(() => startScript(host, request, program, grant, room, options));
      yield* room.read();
    } finally {
      signal.removeEventListener("abort", interrupt);
      host.kill();
      await host.gone;
      running.delete(host);
    }
  }

  async function* run(request: ScriptRequest, signal: AbortSignal): AsyncGenerator<ScriptNews> {
    if (![".ts", ".js"].includes(extname(request.file))) {
      return yield* refuse(fail("invalid", `${request.file} is neither a .ts nor a .js file`).failure, EXIT_USAGE);
    }
    const grant = await readGrant(request);
    if (!grant.ok) return yield* refuse(grant.failure, EXIT_USAGE);
    const program = await buildProgram(request.file);
    if (!program.ok) return yield* refuse(program.failure, EXIT_FAILED);
    if (running.size >= SCRIPTS_MAX) {
      const full = fail("exhausted", `${SCRIPTS_MAX} scripts run already`, {
        hint: "try again when one of them has ended",
      });
      return yield* refuse(full.failure, EXIT_FAILED);
    }
    const host = startHost(options.launcher, options.files, options.limits);
    if (!host.ok) return yield* refuse(host.failure, EXIT_FAILED);
    yield* runIn(host.value, request, program.value, grant.value, signal);
  }

  return {
    run,
    async close() {
      const ending = [...running];
      for (const host of ending) host.kill();
      await Promise.all(ending.map((host) => host.gone));
    },
  };
}
