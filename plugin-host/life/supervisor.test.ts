import { expect, test } from "vitest";
import type { Exit } from "../../sandbox/os/launcher.ts";
import { createLogRing } from "../link/log-ring.ts";
import type { PluginLink } from "../link/plugin-link.ts";
import { failedForGood, failedForNow, type Started } from "../link/start-outcome.ts";
import type { Clock } from "./clock.ts";
import type { Incarnation } from "./incarnation.ts";
import type { Death } from "./place.ts";
import { createRestartBudget } from "./restart-budget.ts";
import { BREAKER_LIMITS } from "./restart-policy.ts";
import { createSupervisor } from "./supervisor.ts";
import type { Generation } from "./tenure.ts";

const MINUTE_MS = 60_000;

/** A clock that stands still until it is moved; what is due on the way happens, and whatever follows from it at once. */
function handClock() {
  let nowMs = 1_000_000;
  const due = new Set<{ readonly atMs: number; readonly act: () => void }>();
  const clock: Clock = {
    now: () => nowMs,
    after: (delayMs, act) => {
      const one = { atMs: nowMs + delayMs, act };
      due.add(one);
      return () => due.delete(one);
    },
  };
  const pass = async (ms: number) => {
    const untilMs = nowMs + ms;
    for (;;) {
      await settle();
      const [next] = [...due].filter(({ atMs }) => atMs <= untilMs).sort((left, right) => left.atMs - right.atMs);
      if (next === undefined) break;
      nowMs = Math.max(nowMs, next.atMs);
      due.delete(next);
      next.act();
    }
    nowMs = untilMs;
    await settle();
  };
  return { clock, pass, due };
}

/** Lets everything happen that follows without any time passing. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((done) => setImmediate(done));
}

/** A process that does what the test says. */
function scriptedProcess(pid: number) {
  const { promise: exited, resolve } = Promise.withResolvers<Exit>();
  const said: string[] = [];
  let isGone = false;
  let because: string | undefined;
  const die = (exit: Exit = { code: null, signal: "SIGKILL" }) => {
    isGone = true;
    resolve(exit);
  };
  const script = { answers: true, drains: Promise.resolve() };
  const incarnation: Incarnation = {
    pid,
    exited,
    onExit: () => () => {},
    isGone: () => isGone,
    cleaned: exited.then(() => {}),
    link: { answers: async () => script.answers } as Partial<PluginLink> as PluginLink,
    kill: (why) => {
      because ??= why;
      die();
    },
    killedBecause: () => because,
    stop: async (reason) => {
      said.push(reason);
      die({ code: 0, signal: null });
    },
  };
  return { incarnation, die, said, script };
}

function openLife(change: Partial<Generation> = {}) {
  const { clock, pass, due } = handClock();
  const processes: ReturnType<typeof scriptedProcess>[] = [];
  const deaths: Death[] = [];
  const log = createLogRing(clock.now);
  const generationOf = (more: Partial<Generation> = {}): Generation => ({
    version: "1.0.0",
    start: async (): Promise<Started<Incarnation>> => {
      const process = scriptedProcess(100 + processes.length);
      processes.push(process);
      return { ok: true, value: process.incarnation };
    },
    blocked: () => undefined,
    idleStopMs: 10 * MINUTE_MS,
    singleton: false,
    longestUseMs: 30_000,
    disk: { folders: [], limitMib: 1 },
    ...more,
  });
  const supervisor = createSupervisor({
    name: "p",
    generation: generationOf(change),
    log,
    clock,
    jitter: () => 0.5,
    budget: createRestartBudget(clock.now),
    breaker: BREAKER_LIMITS,
    onDeath: (death) => deaths.push(death),
  });
  const acquire = () => supervisor.acquire(new AbortController().signal);
  const hold = async () => {
    const held = await acquire();
    if (!held.ok) throw new Error(held.failure.message);
    return held.value;
  };
  const last = () => {
    const process = processes.at(-1);
    if (process === undefined) throw new Error("nothing was started");
    return process;
  };
  return { supervisor, processes, deaths, log, pass, due, acquire, hold, last, generationOf };
}

test("five crashes in five minutes: it rests; a try after five minutes that fails doubles the rest, one that holds ends it", async () => {
  const { acquire, hold, last, pass, supervisor, processes, deaths } = openLife();
  for (let crash = 0; crash < 5; crash++) {
    (await hold()).release();
    last().die();
    await pass(5_000);
  }
  expect(supervisor.state().is).toBe("broken");
  expect(deaths).toHaveLength(5);
  const failure = { code: "unavailable", hint: expect.stringContaining("claw plugin reload p") };
  expect(await acquire()).toMatchObject({ ok: false, failure });
  await pass(4 * MINUTE_MS);
  expect(await acquire()).toMatchObject({ ok: false, failure: { message: expect.stringMatching(/in 55\.0 s$/) } });
  expect(processes).toHaveLength(5);
  await pass(MINUTE_MS);
  (await hold()).release();
  last().die();
  await pass(9 * MINUTE_MS);
  expect(await acquire()).toMatchObject({ ok: false });
  await pass(MINUTE_MS);
  (await hold()).release();
  await pass(2 * MINUTE_MS);
  last().die();
  await settle();
  expect(supervisor.state()).toMatchObject({ is: "pausing" });
});

test("a start that fails counts as a crash, and one that can never succeed is not tried again", async () => {
  let starts = 0;
  const now = openLife({
    start: async () => {
      starts++;
      return failedForNow("unavailable", "it ended");
    },
  });
  for (let start = 0; start < 5; start++) {
    expect(await now.acquire()).toMatchObject({ ok: false });
    await now.pass(5_000);
  }
  expect({ state: now.supervisor.state().is, starts }).toEqual({ state: "broken", starts: 5 });
  const good = openLife({ start: async () => failedForGood("invalid", "no common major", "upgrade it") });
  for (let call = 0; call < 3; call++) expect(await good.acquire()).toMatchObject({ ok: false });
  await good.pass(60 * MINUTE_MS);
  expect(good.supervisor.state().is).toBe("refused");
});

test("a plugin that says it cannot run (exit 78) is not started again", async () => {
  const { hold, last, supervisor } = openLife();
  (await hold()).release();
  last().die({ code: 78, signal: null });
  await settle();
  expect(supervisor.state().is).toBe("refused");
});

test("without a use for its idle time it leaves, and the next call starts it", async () => {
  const { hold, processes, pass, supervisor, deaths } = openLife();
  const held = await hold();
  await pass(20 * MINUTE_MS);
  expect(supervisor.state().is).toBe("ready");
  held.release();
  held.release();
  await pass(9 * MINUTE_MS);
  expect(supervisor.state().is).toBe("ready");
  await pass(MINUTE_MS);
  expect(supervisor.state().is).toBe("idle");
  expect(processes[0]?.said).toEqual(["nobody used it for 600.0 s"]);
  expect((await hold()).incarnation.pid).toBe(101);
  expect({ deaths, restarts: supervisor.restarts() }).toEqual({ deaths: [], restarts: 0 });
});

test("three questions without an answer, and it is killed with a word about it", async () => {
  const { hold, last, pass, deaths, log } = openLife();
  await hold();
  last().script.answers = false;
  await pass(30_000);
  last().script.answers = true;
  await pass(30_000);
  expect(deaths).toEqual([]);
  last().script.answers = false;
  await pass(45_000);
  const because = "was killed: it answered none of 3 questions whether it is there";
  expect(deaths).toEqual([{ version: "1.0.0", pid: 100, because }]);
  expect(log.lines()).toContain("host: killed: it answered none of 3 questions whether it is there");
});

test("the old process is drained no longer than its longest call, and no longer than a minute", async () => {
  for (const [longestUseMs, limitMs] of [
    [30_000, 30_000],
    [600_000, 60_000],
  ] as const) {
    const { hold, processes, pass, supervisor, generationOf } = openLife({ longestUseMs });
    await hold();
    expect(await supervisor.replace(generationOf({ version: "2.0.0" }), "upgrade")).toEqual({
      ok: true,
      value: undefined,
    });
    expect((await hold()).incarnation.pid).toBe(101);
    await pass(limitMs - 1);
    expect(processes[0]?.said).toEqual([]);
    await pass(1);
    expect(processes[0]?.said).toEqual(["upgrade"]);
    await supervisor.alone();
  }
});

test("a next one that does not start leaves the old one alone", async () => {
  const { hold, supervisor, generationOf, processes } = openLife();
  (await hold()).release();
  const bad = generationOf({ start: async () => failedForNow("invalid", "it is broken") });
  expect(await supervisor.replace(bad, "upgrade")).toMatchObject({ ok: false, failure: { message: "it is broken" } });
  expect((await hold()).incarnation.pid).toBe(100);
  expect(processes).toHaveLength(1);
});

test("two lives of a singleton never overlap, and a next one that fails gives way to the old one", async () => {
  const { hold, acquire, supervisor, generationOf, processes } = openLife({ singleton: true });
  const held = await hold();
  const replaced = supervisor.replace(generationOf({ singleton: true }), "upgrade");
  const waiting = acquire();
  await settle();
  expect(processes).toHaveLength(1);
  held.release();
  expect(await replaced).toMatchObject({ ok: true });
  expect(await waiting).toMatchObject({ ok: true, value: { incarnation: { pid: 101 } } });
  expect(processes[0]?.said).toEqual(["upgrade"]);
  const other = openLife({ singleton: true });
  (await other.hold()).release();
  const bad = other.generationOf({ singleton: true, start: async () => failedForNow("invalid", "it is broken") });
  expect(await other.supervisor.replace(bad, "upgrade")).toMatchObject({ ok: false });
  expect((await other.hold()).incarnation.pid).toBe(101);
});

test("what is taken back ends the process at once, calls under way or not, and calls wait for the next one", async () => {
  const { hold, acquire, supervisor, generationOf, processes, deaths } = openLife();
  await hold();
  const [replaced, waiting] = [supervisor.replaceAtOnce(generationOf(), "revoked"), acquire()];
  expect(await replaced).toMatchObject({ ok: true });
  expect(await waiting).toMatchObject({ ok: true, value: { incarnation: { pid: 101 } } });
  expect({ said: processes[0]?.said, deaths }).toEqual({ said: ["revoked"], deaths: [] });
});

test("closing ends the present process and one that is still drained, and nothing starts any more", async () => {
  const { hold, acquire, supervisor, generationOf, processes, due } = openLife();
  await hold();
  await supervisor.replace(generationOf(), "upgrade");
  await hold();
  await supervisor.close("the end");
  expect(processes.map(({ said }) => said)).toEqual([["upgrade"], ["the end"]]);
  expect(await acquire()).toMatchObject({ ok: false, failure: { code: "unavailable" } });
  expect(await supervisor.replace(generationOf(), "too late")).toMatchObject({ ok: false });
  expect(due.size).toBe(0);
});

test("a plugin that waits for another is not started, and is as soon as it may", async () => {
  let isThere = false;
  const missing = { code: "unavailable", message: 'plugin "p" needs plugin "q"' } as const;
  const { acquire, hold, processes } = openLife({ blocked: () => (isThere ? undefined : missing) });
  expect(await acquire()).toEqual({ ok: false, failure: missing });
  expect(processes).toEqual([]);
  isThere = true;
  expect((await hold()).incarnation.pid).toBe(100);
});
