import { type Failure, fail, type Result } from "../../core/domain/failure.ts";
import type { HookAnswer, HookContext, HookEvent, HookListener, HookSource } from "../../core/domain/hook.ts";
import { failedReply, repliedWith, takenAt } from "../../core/domain/hook-answer.ts";
import type { Incarnation } from "../life/incarnation.ts";
import { exitBehind } from "../link/exit-behind.ts";
import { MAX_MESSAGE_BYTES } from "../link/plugin-client.ts";
import { LinkError } from "../link/plugin-link.ts";
import { sayExit } from "../link/start-outcome.ts";
import type { PluginHook } from "../manifest/hooks.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { readHookAnswer } from "./hook-answer.ts";
import { countMissedEvents, type MissedEvents } from "./life-sign.ts";
import type { OfferParts } from "./offer-parts.ts";
import { openTimeLimit, type TimeLimit } from "./time-limit.ts";

/** Events that one plugin is asked about at a time, those included that wait for its start. */
const MAX_EVENTS = 256;
const MAX_PROGRESS_CHARS = 2_000;
const MAX_CAUSE_CHARS = 500;

/** A listener, and what its manifest says of it. */
export type PluginListener = HookListener & PluginHook;

/** The name under which a plugin's hooks stand in receipts. */
function hookNameOf(manifest: Pick<PluginManifest, "name">): string {
  return `plugin:${manifest.name}`;
}

/** The hooks of a plugin that may run. Its process is started by the first event, in its own time and not in the hook's. */
export function makePluginListeners(parts: OfferParts): readonly PluginListener[] {
  const { manifest, log, now } = parts;
  const counts: Counts = { since: now().toString(36), heard: 0, waiting: 0, silence: countMissedEvents() };
  return manifest.hooks.map((hook) => ({
    ...frameOf(manifest, hook),
    async ask(event, context) {
      const startedMs = now();
      const answer = await askPlugin(parts, counts, { hook, event, context }).catch(brokenPromise);
      const ms = now() - startedMs;
      if (answer.ok) return repliedWith(answer.value, ms);
      const failed = failedReply(hookNameOf(manifest), answer.failure, hook.onError, ms);
      log.add("host", failed.because);
      return failed;
    },
  }));
}

/** A promise of ours that breaks must not let a guard vanish. */
function brokenPromise(cause: unknown): Result<never> {
  return fail("unavailable", `could not be asked: ${String(cause)}`, { cause });
}

/** The hooks of a plugin that was granted and may not run: each fails, so that a guard does not vanish. */
export function makeBrokenListeners(
  manifest: Pick<PluginManifest, "name" | "hooks">,
  failure: Failure,
): readonly PluginListener[] {
  const broken: Failure = { ...failure, message: `could not be asked: ${failure.message}` };
  return manifest.hooks.map((hook) => ({
    ...frameOf(manifest, hook),
    ask: async () => failedReply(hookNameOf(manifest), broken, hook.onError, 0),
  }));
}

/** What stands for the guards of a plugin whose manifest cannot be read: nobody knows what they would have let through. */
export function makeLostGuard(name: string, failure: Failure): readonly PluginListener[] {
  const guard: PluginHook = { index: 0, at: "tool.before", priority: 0, timeoutMs: 0, onError: "deny", tools: [] };
  return makeBrokenListeners({ name, hooks: [guard] }, failure);
}

function frameOf(manifest: Pick<PluginManifest, "name">, hook: PluginHook): Omit<PluginListener, "ask"> {
  const { tools } = hook;
  return {
    ...hook,
    name: hookNameOf(manifest),
    wants: ({ value }) => tools.length === 0 || (typeof value.tool === "string" && tools.includes(value.tool)),
  };
}

/** The hooks of all plugins as they are at each moment. Nothing is kept for a session here. */
export function pluginHookSource(all: () => readonly PluginListener[]): HookSource {
  return {
    listeners: async (point) =>
      all()
        .filter(({ at }) => at === point)
        .sort(comparePlaces),
    forget() {},
  };
}

/** The order of running. */
export function comparePlaces(left: PluginListener, right: PluginListener): number {
  return left.priority - right.priority || (left.name < right.name ? -1 : 1);
}

/** `since` tells the ids of these listeners' events from those of the listeners before, whose process may still be there. */
type Counts = { readonly since: string; heard: number; waiting: number; readonly silence: MissedEvents };

type Asked = { readonly hook: PluginHook; readonly event: HookEvent; readonly context: HookContext };

/** Messages of failures go on after the hook's name. */
async function askPlugin(parts: OfferParts, counts: Counts, asked: Asked): Promise<Result<HookAnswer>> {
  if (counts.waiting >= MAX_EVENTS)
    return fail("exhausted", `was not asked: ${MAX_EVENTS} events wait for its answer already`);
  counts.waiting += 1;
  counts.heard += 1;
  const id = `hook-${counts.since}-${counts.heard}`;
  try {
    const held = await parts.supervisor.acquire(asked.context.signal);
    if (!held.ok)
      return { ok: false, failure: { ...held.failure, message: `could not be asked: ${held.failure.message}` } };
    try {
      return await askProcess(parts, counts.silence, held.value.incarnation, id, asked);
    } finally {
      held.value.release();
    }
  } finally {
    counts.waiting -= 1;
  }
}

async function askProcess(
  parts: OfferParts,
  silence: MissedEvents,
  incarnation: Incarnation,
  id: string,
  asked: Asked,
): Promise<Result<HookAnswer>> {
  const { hook, event, context } = asked;
  const callId = parts.calls.freeId(id);
  const limit = openTimeLimit(hook.timeoutMs, parts.now);
  const close = parts.calls.open({
    callId,
    sessionId: event.sessionId,
    workspace: event.workspace,
    progress: (line) => parts.log.add("log", line.slice(0, MAX_PROGRESS_CHARS)),
    desk: patientDesk(context, limit),
  });
  try {
    const heard = await hearAnswer(incarnation, callId, asked, limit);
    if (heard.is === "answer" || heard.is === "error") silence.answered(incarnation);
    switch (heard.is) {
      case "answer": {
        const read = readHookAnswer(heard.answer, event.value);
        return read.ok ? takenAt(event.at, read.value) : read;
      }
      case "interrupted":
        return fail("cancelled", "was interrupted");
      case "late":
        void silence.missed(incarnation, parts.log);
        return fail("timed_out", `gave no answer within ${hook.timeoutMs} ms`);
      case "died":
        return lostProcess(heard.how);
      case "error":
        return await judgeError(incarnation, heard.cause);
    }
  } finally {
    close();
    limit.close();
  }
}

/** What the conversation offers, without the time in which a person thinks. */
function patientDesk({ signal: _, ...desk }: HookContext, limit: TimeLimit): Omit<HookContext, "signal"> {
  return {
    ...desk,
    ask: (question) => limit.hold(desk.ask(question)),
    confirm: (principal, question) => limit.hold(desk.confirm(principal, question)),
  };
}

type Heard =
  | { readonly is: "answer"; readonly answer: Parameters<typeof readHookAnswer>[0] }
  | { readonly is: "error"; readonly cause: unknown }
  | { readonly is: "died"; readonly how: string }
  | { readonly is: "late" }
  | { readonly is: "interrupted" };

/** Whatever comes first. The plugin is told when nobody waits any more, and what it answers then is dropped. */
async function hearAnswer(
  incarnation: Incarnation,
  callId: string,
  { hook, event, context }: Asked,
  limit: TimeLimit,
): Promise<Heard> {
  const { at, sessionId, workspace, value } = event;
  if (context.signal.aborted) return { is: "interrupted" };
  const end = new AbortController();
  const first = Promise.withResolvers<Heard>();
  const interrupt = () => first.resolve({ is: "interrupted" });
  context.signal.addEventListener("abort", interrupt, { once: true });
  const forgetExit = incarnation.onExit((exit) => first.resolve({ is: "died", how: sayExit(exit) }));
  void limit.over.then(() => first.resolve({ is: "late" }));
  const sent = { at, callId, sessionId, workspace, value, timeLimitMs: hook.timeoutMs, hook: hook.index };
  incarnation.link.runHook(sent, end.signal).then(
    (answer) => first.resolve({ is: "answer", answer }),
    (cause: unknown) => first.resolve({ is: "error", cause }),
  );
  try {
    return await first.promise;
  } finally {
    context.signal.removeEventListener("abort", interrupt);
    forgetExit();
    end.abort();
  }
}

/** An error of the transport, when it was not us who ended the event: most often the process is dying. */
async function judgeError(incarnation: Incarnation, cause: unknown): Promise<Result<never>> {
  if (cause instanceof LinkError && cause.kind === "unserved")
    return fail("invalid", "does not serve hooks, although its manifest declares one", { cause });
  if (cause instanceof LinkError && cause.kind === "too large")
    return fail("exhausted", `needed a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`, { cause });
  if (cause instanceof LinkError && cause.kind === "timed out")
    return fail("timed_out", "gave no answer in time", { cause });
  const exit = await exitBehind(cause, incarnation.exited);
  if (exit !== undefined) return lostProcess(sayExit(exit));
  const why = cause instanceof Error ? cause.message : String(cause);
  return fail("unavailable", `broke off: ${why.slice(0, MAX_CAUSE_CHARS)}`, { cause });
}

function lostProcess(how: string): Result<never> {
  return fail("unavailable", `lost its process, which ${how}`);
}
