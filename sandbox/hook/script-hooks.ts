import type { JsonValue } from "@bufbuild/protobuf";
import type { HookAdmin, ScriptRunner } from "../../core/domain/admin.ts";
import { type Failed, fail, type Result } from "../../core/domain/failure.ts";
import { type HookEvent, type HookOutcome, type Hooks, NO_HOOKS } from "../../core/domain/hook.ts";
import type { Launcher } from "../os/launcher.ts";
import type { Environment } from "./environment.ts";
import { hookAdmin } from "./hook-admin.ts";
import { type HookScript, hookFolder } from "./hook-folder.ts";
import { onErrorAt } from "./hook-header.ts";
import { hookPool } from "./hook-pool.ts";
import { failedVerdict, mergeVerdicts, readAnswer, type Verdict } from "./hook-verdict.ts";
import type { HostFiles } from "./host-process.ts";
import { ISOLATE_LIMITS, type IsolateLimits } from "./limits.ts";
import { scriptRunner } from "./script-runner.ts";

export type ScriptHooksOptions = HostFiles & {
  readonly launcher: Launcher;
  /** Where hook scripts lie; need not exist. Their relative paths start here. */
  readonly hooksDir: string;
  /** A clock in milliseconds, for the times in receipts. */
  readonly now: () => number;
  /** The daemon's environment; a script sees of it what its grant names. */
  readonly env: Environment;
  /** Hears what hooks print, a line at a time, safe to show. */
  readonly log?: (hook: string, line: string) => void;
  readonly limits?: Partial<IsolateLimits>;
};

export type ScriptHooks = {
  readonly hooks: Hooks;
  readonly admin: HookAdmin;
  readonly scripts: ScriptRunner;
  /** Kills every host process and waits until they are gone. */
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

/**
 * Hook scripts and `claw run`: a stranger's TypeScript in isolates of separate, confined processes. Opening starts
 * nothing and reads nothing; a process comes with the first event that a hook listens to.
 *
 * A broken hook (header, bundle) counts as one that fails: at the points its header names it answers by its on-error,
 * which blocks at `tool.before`. One whose points cannot be read blocks nothing; `admin.list` shows both.
 */
export async function openScriptHooks(options: ScriptHooksOptions): Promise<ScriptHooks> {
  const { launcher, hooksDir, env, now, log } = options;
  const files: HostFiles = {
    nodeBinary: options.nodeBinary,
    hostFile: options.hostFile,
    preludeFile: options.preludeFile,
    addonFile: options.addonFile,
  };
  const limits: IsolateLimits = { ...ISOLATE_LIMITS, ...options.limits };
  const folder = hookFolder(hooksDir);
  const pool = hookPool({ launcher, files, folder: hooksDir, env, limits });
  const scripts = scriptRunner({ launcher, files, env, limits });
  let trials = 0;

  async function judge(
    hook: HookScript,
    event: HookEvent,
    work: Promise<Result<JsonValue>>,
    startedMs: number,
  ): Promise<Verdict> {
    const returned = await work;
    const answer = returned.ok ? readAnswer(returned.value, event) : returned;
    const ms = now() - startedMs;
    if (!answer.ok) return failedVerdict(hook.name, answer.failure, onErrorAt(hook.header, event.at), ms);
    return { answer: answer.value, because: answer.value.do === "block" ? answer.value.because : "", ms };
  }

  async function runAll(heard: readonly HookScript[], event: HookEvent, signal: AbortSignal): Promise<HookOutcome> {
    const merge = mergeVerdicts(event.value);
    for (const hook of heard) {
      if (merge.decided) {
        merge.pass(hook.name);
        continue;
      }
      const current = { ...event, value: merge.value };
      const firing = {
        hook,
        guest: event.sessionId,
        event: current,
        log: (line: string) => log?.(hook.name, line),
        signal,
      };
      const startedMs = now();
      merge.add(hook.name, await judge(hook, current, unlessAborted(pool.fire(firing), signal), startedMs));
    }
    return merge.outcome();
  }

  async function tryOut(hook: HookScript, event: HookEvent, trialLog: (line: string) => void): Promise<Verdict> {
    trials += 1;
    // A name that no session has: the trial must not share an isolate with real events.
    const guest = `trial ${trials}`;
    const startedMs = now();
    const verdict = await judge(
      hook,
      event,
      pool.fire({ hook, guest, event, log: trialLog, signal: new AbortController().signal }),
      startedMs,
    );
    pool.forget(hook, guest);
    return verdict;
  }

  return {
    hooks: {
      async run(event, signal) {
        const heard = (await folder.scripts()).filter((hook) => hook.header.points.includes(event.at));
        return heard.length === 0 ? NO_HOOKS : runAll(heard, event, signal);
      },
    },
    admin: hookAdmin(hooksDir, folder, tryOut),
    scripts,
    async close() {
      await Promise.all([pool.close(), scripts.close()]);
    },
  };
}
