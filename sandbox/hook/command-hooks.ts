import { dirname } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { HookAnswer, HookEvent } from "../../core/domain/hook.ts";
import { showable } from "../../core/domain/showable.ts";
import { type CommandEnd, collectCommand } from "../broker/command-run.ts";
import { confineCommand } from "../broker/command-walls.ts";
import { type Environment, viewEnvironment } from "../broker/environment.ts";
import { fileRules } from "../broker/file-rules.ts";
import { groundGrant } from "../broker/ground-grant.ts";
import type { CapabilityOptions } from "../broker/open-capabilities.ts";
import { slotQueue } from "../isolate/slot-queue.ts";
import type { LaunchSpec, LeasedProcess, ProcessLimits } from "../os/launcher.ts";
import { isInFolder } from "../permission/grant.ts";
import type { Permission } from "../permission/permission.ts";
import { type CommandSaid, readCommandEnd } from "./command-hook-answer.ts";
import { commandInput } from "./command-hook-input.ts";
import { findNeeded, type NeededFile } from "./command-programs.ts";
import type { CommandHook, KnownHook } from "./known-hook.ts";

const SHELL = "/bin/sh";
/**
 * Looks at everything before it runs the line: a shell's own code for a line that it does not understand, and for a script
 * that it does not find, is that of a hook that says no.
 */
const CHECK_AND_RUN = `line=$1; shift
for file; do
  { [ -f "$file" ] && { [ -x "$file" ] || true < "$file"; }; } 2>/dev/null || { echo "$file cannot be read in its sandbox" >&2; exit 126; }
done
/bin/sh -n -c "$line" || exit 126
exec /bin/sh -c "$line"`;
const COMMANDS_AT_ONCE = 8;
const LIMITS: ProcessLimits = { dataMib: 1024, processes: 256, openFiles: 256, fileMib: 64 };
/** Folders that every command sees. */
const SYSTEM_FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"];

export type CommandHookOptions = {
  /**
   * Of the environment a command gets a few names, and what its file's own `clawd.allow` names. Of the hidden places it sees
   * only the folder of its own script.
   */
  readonly broker: Pick<CapabilityOptions, "launcher" | "env" | "searchPath" | "hidden" | "protectedWrite">;
  /** True when a person let commands run without an OS sandbox where there is none. */
  readonly withoutSandbox: boolean;
};

/** Runs commands of the Claude Code format for events. */
export type CommandHooks = {
  /** What it said, or how it failed; the message goes on after its name. Never rejects. */
  fire(
    hook: CommandHook,
    event: HookEvent,
    signal: AbortSignal,
    log: (line: string) => void,
  ): Promise<Result<HookAnswer>>;
  /** Why none of them can run; undefined when they can. */
  readonly closed: string | undefined;
  /** Kills what runs, and waits until it is gone. */
  close(): Promise<void>;
};

/** A program outside of the system's folders may be a mere door to others, which a sandbox does not show. */
function shownFirst(searchPath: string): string {
  const isShown = (path: string) => SYSTEM_FOLDERS.some((folder) => isInFolder(folder, path));
  const folders = searchPath.split(":");
  return [...folders.filter(isShown), ...folders.filter((path) => !isShown(path))].join(":");
}

/** The folder of a file that a line names, since it may need what lies beside it; never one that holds the home folder. */
function shownWith({ path, byPath }: NeededFile, home: string): readonly string[] {
  if (SYSTEM_FOLDERS.some((folder) => isInFolder(folder, path))) return [];
  const folder = dirname(path);
  return !byPath || isInFolder(folder, home === "" ? "/" : home) ? [path] : [folder];
}

const OWN_VARIABLES = ["HOME", "LANG", "TZ"];

function environmentFor(
  { header }: CommandHook,
  event: HookEvent,
  env: Environment,
  searchPath: string,
): Record<string, string> {
  const own = OWN_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const granted = viewEnvironment(header.grant, env).values;
  return { ...Object.fromEntries(own), ...granted, PATH: searchPath, CLAUDE_PROJECT_DIR: event.workspace };
}

/** Whether a hook is meant by an event of its point: commands may want to hear of some tools only. */
export function wantsEvent(hook: KnownHook, { value }: HookEvent): boolean {
  return hook.kind !== "command" || hook.order.wants(typeof value.tool === "string" ? value.tool : "");
}

/** What it printed, when it came to its own end. */
function checkEnd({ why, exit, stdout, stderr }: CommandEnd, timeoutMs: number): Result<CommandSaid> {
  switch (why) {
    case "timeout":
      return fail("timed_out", `gave no answer within ${timeoutMs} ms`);
    case "aborted":
      return fail("cancelled", "was interrupted");
    case "flood":
      return fail("exhausted", "printed too much");
    case "exit":
      if (exit.code === null) return fail("lost", `was killed by ${exit.signal ?? "a signal"}`);
      return ok({ code: exit.code, stdout: stdout.toString("utf8"), stderr: stderr.toString("utf8") });
  }
}

export function commandHooks({ broker, withoutSandbox }: CommandHookOptions): CommandHooks {
  const { launcher, env } = broker;
  const searchPath = launcher.level === "none" ? broker.searchPath : shownFirst(broker.searchPath);
  const slots = slotQueue(COMMANDS_AT_ONCE);
  const rules = fileRules(broker.hidden, broker.protectedWrite);
  let entered = 0;
  const running = new Set<LeasedProcess>();
  const home = env.HOME ?? "";
  let ending = false;
  const closed =
    launcher.level !== "none" || withoutSandbox
      ? undefined
      : "cannot run: this machine has no OS sandbox for its command, and [hooks] commands_without_sandbox is not set";

  /** Beside what its file asks for, a command sees the workspace and the folders of the files that its line names. */
  async function confine(
    hook: CommandHook,
    event: HookEvent,
    needed: readonly NeededFile[],
    log: (line: string) => void,
  ) {
    const seen = [event.workspace, ...needed.flatMap((file) => shownWith(file, home))];
    const { allow, deny } = hook.header.grant;
    const reading = seen.map((path): Permission => ({ kind: "read", path }));
    const grant = await groundGrant({ allow: [...allow, ...reading], deny }, searchPath);
    return confineCommand(grant, rules, ({ message, hint }) => log(`${message}; ${hint}`));
  }

  async function plan(hook: CommandHook, event: HookEvent, log: (line: string) => void): Promise<Result<LaunchSpec>> {
    const environment = environmentFor(hook, event, env, searchPath);
    const variables = { CLAUDE_PROJECT_DIR: event.workspace, ...(home === "" ? {} : { HOME: home }) };
    const needed = await findNeeded(hook.order.line, event.workspace, variables, searchPath);
    if (!needed.ok) return needed;
    return ok({
      command: [SHELL, "-c", CHECK_AND_RUN, "sh", hook.order.line, ...needed.value.map(({ path }) => path)],
      cwd: event.workspace,
      env: environment,
      confinement: await confine(hook, event, needed.value, log),
      limits: launcher.level === "none" ? {} : LIMITS,
      pipes: 0,
    });
  }

  async function run(
    hook: CommandHook,
    event: HookEvent,
    signal: AbortSignal,
    log: (line: string) => void,
  ): Promise<Result<HookAnswer>> {
    const planned = await plan(hook, event, log);
    if (!planned.ok) return planned;
    if (ending || signal.aborted) return fail("cancelled", "was not started");
    let child: LeasedProcess;
    try {
      child = launcher.launch(planned.value);
    } catch (cause) {
      return fail("unavailable", `cannot be started: ${cause instanceof Error ? cause.message : String(cause)}`, {
        cause,
      });
    }
    running.add(child);
    const input = Buffer.from(`${JSON.stringify(commandInput(hook.order.event, event))}\n`);
    const end = await collectCommand(child, input, hook.header.timeoutMs, signal);
    running.delete(child);
    const ended = checkEnd(end, hook.header.timeoutMs);
    if (!ended.ok) return ended;
    const word = readCommandEnd(ended.value, hook.order.event, event);
    if (!word.ok) return word;
    for (const line of word.value.remark.split("\n").filter((text) => text !== "")) log(showable(line));
    return ok(word.value.answer);
  }

  return {
    closed,
    async fire(hook, event, signal, log) {
      if (!wantsEvent(hook, event)) return ok({ do: "pass" });
      if (closed !== undefined) return fail("denied", closed);
      entered += 1;
      const place = entered;
      const leave = await new Promise<() => void>((resolve) => slots.enter(place, resolve));
      try {
        return await run(hook, event, signal, log);
      } finally {
        leave();
      }
    },
    async close() {
      ending = true;
      const left = [...running];
      for (const child of left) child.kill();
      await Promise.all(left.map((child) => child.exited));
    },
  };
}
