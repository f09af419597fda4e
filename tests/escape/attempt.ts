import type { HookEvent, HookOutcome } from "../../core/domain/hook.ts";
import { conversation, type TestConversation } from "../../sandbox/fixtures/sandbox-room.ts";
import { findCanaries } from "./canaries.ts";
import {
  comesToRest,
  describeFolder,
  describeRealm,
  differences,
  findHostPaths,
  type LoopWatch,
  watchLoop,
} from "./detectors.ts";
import type { Area, EscapeCase, Sight } from "./escape-case.ts";
import { type EscapeHouse, idOf, sourceOf } from "./escape-house.ts";

/** What can be seen of an attempt from outside. */
export type Seen = {
  /** Undefined when it did not settle. */
  readonly outcome: HookOutcome | undefined;
  /** The texts of its tries, or the whole verdict. */
  readonly texts: readonly string[];
  readonly printed: readonly string[];
  readonly conversation: TestConversation;
  readonly hits: readonly string[];
};

export type AttemptLimits = {
  readonly settleMs: number;
  readonly innocentMs: number;
  readonly loopLateMs: number;
  readonly growthMib: number;
  readonly restMs: number;
};

const LIMITS: AttemptLimits = { settleMs: 6000, innocentMs: 4000, loopLateMs: 500, growthMib: 150, restMs: 4000 };
const BYTES_PER_MIB = 1024 * 1024;

/** Makes attempts, one at a time, and tells what each has broken: nothing, when the walls held. */
export type Examiner = {
  examine(area: Area, index: number, tried: EscapeCase): Promise<readonly string[]>;
  end(): void;
};

export function openExaminer(house: EscapeHouse, limits: Partial<AttemptLimits> = {}): Examiner {
  const bounds = { ...LIMITS, ...limits };
  const loop: LoopWatch = watchLoop();
  const realmBefore = describeRealm();
  let count = 0;

  function event(at: HookEvent["at"], sessionId: string, value: HookEvent["value"]): HookEvent {
    return { at, sessionId, turnId: "t1", callId: "c1", workspace: house.folder, value };
  }

  /** Another conversation, with a hook that keeps its secrets. */
  async function speakSecretly(tried: EscapeCase, id: string): Promise<void> {
    const { hooks } = house.rig(tried.rig ?? "guest");
    const secret = { text: house.canaries.session, secret: house.canaries.store };
    await hooks.hooks.run(event("custom.keep", "victim", secret), conversation());
    if (tried.victim) await hooks.hooks.run(event(`custom.${id}`, "victim", secret), conversation());
  }

  async function fire(tried: EscapeCase, id: string): Promise<Seen> {
    const { hooks, printed } = house.rig(tried.rig ?? "guest");
    const from = printed.length;
    house.forgetHits();
    const talk = conversation();
    if (tried.word) talk.word = tried.word;
    const failure = { code: "unavailable", message: "the disk is full" } as const;
    const context = tried.unrecorded ? { ...talk, record: async () => ({ ok: false, failure }) as const } : talk;
    const outcome = await within(hooks.hooks.run(event(`custom.${id}`, id, { try: id }), context), bounds.settleMs);
    const answer = outcome?.answer;
    const texts =
      tried.tries && answer?.do === "answer" && Array.isArray(answer.result)
        ? answer.result.map(String)
        : [JSON.stringify([answer, ...(outcome?.receipts.map(({ because }) => because) ?? [])])];
    return { outcome, texts, printed: printed.slice(from), conversation: talk, hits: [...house.hits()] };
  }

  async function askInnocent(tried: EscapeCase, area: Area): Promise<string | undefined> {
    const { hooks } = house.rig(tried.rig ?? "guest");
    count += 1;
    const sessionId = `fresh ${count}`;
    const asked = hooks.hooks.run(event(`custom.innocent-${area}`, sessionId, { count }), conversation());
    const outcome = await within(asked, bounds.innocentMs);
    await hooks.hooks.run(event("session.closed", sessionId, { reason: "removed" }), conversation());
    if (!outcome) return `an innocent hook did not answer within ${bounds.innocentMs} ms`;
    const expected = JSON.stringify({ do: "answer", result: { alive: count, strange: [] } });
    const got = JSON.stringify(outcome.answer);
    return got === expected ? undefined : `an innocent hook answered ${got.slice(0, 300)}`;
  }

  function judgeTexts(tried: EscapeCase, id: string, seen: Seen): string[] {
    const { outcome, printed, conversation: talk } = seen;
    const told = JSON.stringify([outcome, printed]);
    const all = [told, JSON.stringify([talk.decisions, talk.questions, talk.calls, seen.hits])].join("\n");
    const places = house.placesOf(id);
    const source = sourceOf(tried, "");
    const named = Object.entries(places).flatMap(([name, place]) => (source.includes(`{{${name}}}`) ? [place] : []));
    // Native code knows where its own process was started from, which says nothing of the walls.
    const paths = tried.rig === "host" ? [] : findHostPaths(told, named, [house.folder]);
    return [
      ...findCanaries(all, house.canaries).map((canary) => `the canary of ${canary} came out`),
      ...paths.map((path) => `a path of this machine came out: ${path}`),
    ];
  }

  function judgeSight(tried: EscapeCase, seen: Seen): string[] {
    const { sees, reaches = [] } = tried;
    const wanted = sees && sightAt(sees, house);
    const complaint = tried.also?.(seen);
    return [
      ...seen.texts
        .filter((text) => wanted && !wanted.test(text))
        .map((text) => `${wanted} is not in ${JSON.stringify(text.slice(0, 400))}`),
      ...(seen.hits.length > 0 && !reaches.includes("server") ? [`a server was reached: ${seen.hits[0]}`] : []),
      ...(seen.conversation.calls.length > 0 && !reaches.includes("tool") ? ["a tool was called"] : []),
      ...(complaint === undefined ? [] : [complaint]),
    ];
  }

  /** What it must leave as it is, whatever it was granted. */
  async function judgeTraces(folderBefore: ReadonlyMap<string, string>, rssBefore: number): Promise<string[]> {
    const touched = differences(folderBefore, describeFolder(house.folder, house.changing));
    const bent = differences(realmBefore, describeRealm());
    const grownMib = (process.memoryUsage.rss() - rssBefore) / BYTES_PER_MIB;
    return [
      ...touched.map((path) => `something was written outside: ${path}`),
      ...bent.map((path) => `this process's ${path} was changed`),
      ...(grownMib > bounds.growthMib ? [`this process has grown by ${Math.round(grownMib)} MiB`] : []),
      ...((await comesToRest(house.pids, bounds.restMs)) ? [] : ["a processor is still busy"]),
    ];
  }

  return {
    async examine(area, index, tried) {
      const id = idOf(area, index);
      const undo = tried.prepare?.(house.placesOf(id));
      try {
        await speakSecretly(tried, id);
        const folderBefore = describeFolder(house.folder, house.changing);
        const rssBefore = process.memoryUsage.rss();
        loop.begin();
        const seen = await fire(tried, id);
        const lateMs = Math.round(loop.worstMs());
        const found = [
          ...(seen.outcome ? [] : [`it did not settle within ${bounds.settleMs} ms`]),
          ...judgeTexts(tried, id, seen),
          ...judgeSight(tried, seen),
        ];
        const innocent = await askInnocent(tried, area);
        const worstMs = Math.max(lateMs, Math.round(loop.worstMs()));
        if (worstMs > bounds.loopLateMs) found.push(`the event loop was late by ${worstMs} ms`);
        if (innocent !== undefined) found.push(innocent);
        return [...found, ...(await judgeTraces(folderBefore, rssBefore))];
      } finally {
        undo?.();
      }
    },
    end: () => loop.end(),
  };
}

function sightAt(sees: Sight, house: EscapeHouse): RegExp {
  return sees instanceof RegExp ? sees : sees[house.launcher.level === "none" ? "none" : "bubblewrap"];
}

async function within<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, limitMs, undefined);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
