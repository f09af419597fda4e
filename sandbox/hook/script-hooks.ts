import type { HookAdmin } from "../../core/domain/admin.ts";
import { quietDesk } from "../../core/domain/desk.ts";
import { type Failed, fail, type Result } from "../../core/domain/failure.ts";
import type {
  HookAnswer,
  HookContext,
  HookEvent,
  HookListener,
  HookReply,
  HookSource,
} from "../../core/domain/hook.ts";
import { failedReply, readAnswer, repliedWith, takenAt } from "../../core/domain/hook-answer.ts";
import type { Journal } from "../../core/domain/journal.ts";
import type { Engine } from "../isolate/engine.ts";
import { commandHooks, wantsEvent } from "./command-hooks.ts";
import { hookAdmin } from "./hook-admin.ts";
import type { BreakerLimits } from "./hook-breaker.ts";
import { isFolderGuard } from "./hook-file.ts";
import { hookFolder } from "./hook-folder.ts";
import { onErrorAt } from "./hook-header.ts";
import { mayAnswer, rejectedReply } from "./hook-level.ts";
import { type HookRecords, openHookRecords } from "./hook-records.ts";
import { hookStates } from "./hook-states.ts";
import type { KnownHook } from "./known-hook.ts";
import { type HookReach, scriptFirer } from "./script-firer.ts";

export type ScriptHooksOptions = {
  readonly engine: Engine;
  readonly broker: HookReach;
  /** Where hooks lie; need not exist. */
  readonly hooksDir: string;
  /** The types for editors, which are put beside the hooks when one is added. */
  readonly typesFile: string;
  /** What hooks keep goes into its journal "hooks". */
  readonly journal: Journal;
  readonly breaker: BreakerLimits;
  /** Lets command hooks run where there is no OS sandbox. */
  readonly commandsWithoutSandbox: boolean;
  /** Hears what hooks print, a line at a time, safe to show. */
  readonly log: (hook: string, line: string) => void;
};

export type ScriptHooks = {
  readonly source: HookSource;
  readonly admin: HookAdmin;
  readonly records: HookRecords;
  /** Kills the commands that run; the engine belongs to whoever opened it. */
  close(): Promise<void>;
};

/** Gives up waiting when the signal aborts; what was begun ends by its own limits. */
async function unlessAborted<T>(work: Promise<Result<T>>, signal: AbortSignal): Promise<Result<T>> {
  const stopped = Promise.withResolvers<Failed>();
  const stop = () => stopped.resolve(fail("cancelled", "was interrupted"));
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await (signal.aborted ? fail("cancelled", "was interrupted") : Promise.race([work, stopped.promise]));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

const LOOSE_PROGRAMS = ["sh", "bash", "node", "deno", "python", "python3", "env", "find", "git", "xargs"];

/** What commands may touch although nothing is granted. */
const COMMANDS_SEE =
  "a command: it reads the workspace and the folders of its scripts, and beside that what its file allows";

/** What a person should know of a grant. */
function grantNotes({ header }: KnownHook): readonly string[] {
  const loose = header.grant.allow.flatMap((permission) => {
    const program = permission.kind === "run" ? (permission.program ?? "") : undefined;
    if (program === undefined) return [];
    return program === "" || LOOSE_PROGRAMS.includes(program.slice(program.lastIndexOf("/") + 1)) ? [program] : [];
  });
  if (loose.length === 0) return [];
  return [`${loose.map((name) => `run${name === "" ? "" : `=${name}`}`).join(", ")} can start any other program`];
}

/** A trial has no conversation: nobody is there, and no tools are. */
function trialContext(records: HookRecords): HookContext {
  return { signal: new AbortController().signal, ...quietDesk(records.decided) };
}

/**
 * The hooks of a folder: scripts in isolates of confined processes, and commands in the OS sandbox. Opening starts nothing
 * and reads nothing; a process comes with the first event that a hook listens to.
 *
 * A broken hook (header, bundle) counts as one that fails: at the points its header names it answers by its on-error,
 * which blocks at `tool.before`. One whose points cannot be read blocks `tool.before`; `admin.list` shows both.
 */
export function openScriptHooks(options: ScriptHooksOptions): ScriptHooks {
  const { hooksDir, log } = options;
  const { now } = options.broker;
  const folder = hookFolder(hooksDir);
  const records = openHookRecords(options.journal);
  const commands = commandHooks({
    broker: options.broker,
    withoutSandbox: options.commandsWithoutSandbox,
  });
  const states = hookStates({
    records,
    breaker: options.breaker,
    now,
    log: (line) => log("hooks", line),
    notesFor: (hook) => (hook.kind === "command" ? [commands.closed ?? COMMANDS_SEE] : grantNotes(hook)),
  });
  const scripts = scriptFirer({
    ...options,
    records,
    killed(hook) {
      states.killed(hook).catch((cause: unknown) => log("hooks", `a kill of ${hook.name} was not counted: ${cause}`));
    },
  });
  let trials = 0;

  async function askNow(
    hook: KnownHook,
    guest: string,
    event: HookEvent,
    context: HookContext,
    logTo: (line: string) => void,
  ) {
    const off = await states.broken(hook);
    if (off) return { ok: false, failure: off } as const;
    const wrong = hook.failure();
    if (wrong && (hook.kind === "command" || hook.header.failure))
      return fail(wrong.code, `is broken: ${wrong.message}`, { cause: wrong });
    if (hook.kind === "command") return commands.fire(hook, event, context.signal, logTo);
    const fired = await scripts.fire(hook, guest, event, context, logTo);
    if (fired.ok) return readAnswer(fired.value, event);
    if (fired.killed) await states.killed(hook);
    return fired;
  }

  /** A promise of ours that breaks must not let a guard vanish. */
  async function ask(...asked: Parameters<typeof askNow>): Promise<Result<HookAnswer>> {
    try {
      return await askNow(...asked);
    } catch (cause) {
      return fail("unavailable", `could not be asked: ${String(cause)}`, { cause });
    }
  }

  /** Never rejects: what goes wrong is the hook's failure. */
  async function judge(
    hook: KnownHook,
    event: HookEvent,
    work: Promise<Result<HookAnswer>>,
    startedMs: number,
  ): Promise<HookReply> {
    const { name, header } = hook;
    const answer = await work;
    const ms = now() - startedMs;
    if (!answer.ok) return failedReply(name, answer.failure, onErrorAt(header, event.at), ms);
    if (!mayAnswer(header.level, answer.value)) {
      const rejected = rejectedReply(name, answer.value, header.level, ms);
      log(name, rejected.because);
      return rejected;
    }
    const taken = takenAt(event.at, answer.value);
    if (!taken.ok) return failedReply(name, taken.failure, onErrorAt(header, event.at), ms);
    return repliedWith(answer.value, ms);
  }

  function listenerOf(hook: KnownHook): HookListener {
    return {
      name: hook.name,
      // Nobody knows what the folder's guard stands for: no other hook may decide before it.
      priority: isFolderGuard(hook) ? Number.NEGATIVE_INFINITY : hook.header.priority,
      wants: (event) => wantsEvent(hook, event),
      ask(event, context) {
        const startedMs = now();
        const asked = ask(hook, event.sessionId, event, context, (line) => log(hook.name, line));
        return judge(hook, event, unlessAborted(asked, context.signal), startedMs);
      },
    };
  }

  async function tryOut(hook: KnownHook, event: HookEvent, trialLog: (line: string) => void): Promise<HookReply> {
    trials += 1;
    // A name that no session has: the trial must not share an isolate with real events.
    const guest = `trial ${trials}`;
    const startedMs = now();
    const reply = await judge(hook, event, ask(hook, guest, event, trialContext(records), trialLog), startedMs);
    scripts.forget(guest);
    return reply;
  }

  return {
    source: {
      async listeners(point) {
        const heard = (await folder.hooks()).filter((hook) => hook.header.points.includes(point));
        return (await states.active(heard)).map(listenerOf);
      },
      forget: (sessionId) => scripts.forget(sessionId),
    },
    admin: hookAdmin({
      hooksDir,
      folder,
      states,
      tryOut,
      retire: scripts.retire,
      typesFile: options.typesFile,
      log: (line) => log("hooks", line),
    }),
    records,
    close: () => commands.close(),
  };
}
