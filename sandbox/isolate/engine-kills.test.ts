import { readdirSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type EngineRoom, openEngineRoom, QUIET_CONTEXT } from "../fixtures/engine-room.ts";
import type { Engine, Fired, Firing } from "./engine.ts";
import type { IsolateLimits } from "./limits.ts";

let room: EngineRoom;
const engines: Engine[] = [];
beforeAll(async () => {
  room = await openEngineRoom();
});
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  room.world.hadEffect = false;
});
afterAll(() => room.close());

const WEDGE = "export default () => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)";
const COUNTER = "let n = 0; export default () => ++n";
const QUICK = "export default () => 1";
const AFTER_100_MS = "export default () => new Promise((resolve) => setTimeout(() => resolve(1), 100))";
/** Long enough to be there when a neighbour's slice has run out, short enough for a test. */
const AFTER_1500_MS = "export default () => new Promise((resolve) => setTimeout(() => resolve(1), 1500))";

type Fire = (code: string, more?: Partial<Omit<Firing, "plan">>) => Promise<Fired>;

/** An engine of its own, so that what one test leaves behind does not show in another. */
function engineWith(limits: Partial<IsolateLimits> = {}): Fire {
  const engine = room.open(limits);
  engines.push(engine);
  return (code, more = {}) =>
    engine.fire({
      ...{ group: "g", guest: "g", plan: room.plan(code), event: null, timeoutMs: 10_000 },
      ...{ context: QUIET_CONTEXT, signal: new AbortController().signal },
      ...more,
    });
}

/** Process ids of the hosts that live now. */
function hosts(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const [program = "", ...rest] = readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
        return program.endsWith("node") && rest.includes(room.files.hostFile);
      } catch {
        return false;
      }
    })
    .sort((a, b) => a - b);
}

const WAIT = { timeout: 20_000, interval: 20 };

test("a hook that nothing stops costs its process, is to blame, and the next event works", async () => {
  const fire = engineWith();
  expect(await fire(WEDGE)).toMatchObject({ ok: false, killed: true, failure: { code: "timed_out" } });
  expect(await fire(QUICK)).toEqual({ ok: true, value: 1 });
});

test.each([
  ["a Map", "export default () => { const m = new Map(); for (let i = 0; ; i++) m.set(i, {}); }"],
  ["a huge array", "export default () => Array.from({ length: 2 ** 32 - 1 })"],
  ["a normalized string", "export default () => 'A\\u030a'.repeat(2e7).normalize()"],
  [
    "a rejection that cannot be read",
    "export default async () => { Promise.reject(new Proxy({}, { get() { for (;;); }, getPrototypeOf() { for (;;); } })); await new Promise((r) => setTimeout(r, 3000)); }",
  ],
])("%s ends in a verdict, and the next event works", async (_what, code) => {
  const fire = engineWith();
  expect(await fire(code)).toMatchObject({ ok: false });
  expect(await fire(QUICK, { guest: "next" })).toEqual({ ok: true, value: 1 });
});

test("innocent neighbours of a killed process are run again, and are not to blame", async () => {
  const fire = engineWith();
  const [wedge, ...others] = await Promise.all([
    fire(WEDGE, { guest: "bad" }),
    ...["a", "b", "c"].map((guest) => fire(AFTER_1500_MS, { guest })),
  ]);
  expect(wedge).toMatchObject({ ok: false, killed: true });
  expect(others).toEqual(["a", "b", "c"].map(() => ({ ok: true, value: 1 })));
});

test("when a process dies without a word all that had work are tried again alone, and only the guilty one is to blame", async () => {
  const fire = engineWith();
  // Kills its process at once, as V8 does on a catastrophe, but in the middle of what others do.
  const abort =
    "export default async () => { await new Promise((r) => setTimeout(r, 50)); Array.from({ length: 2 ** 32 - 1 }); }";
  const fired = await Promise.all([
    fire(abort, { guest: "bad" }),
    fire(AFTER_1500_MS, { guest: "a" }),
    fire(AFTER_1500_MS, { guest: "b" }),
  ]);
  expect(fired[0]).toMatchObject({ ok: false });
  expect(fired.slice(1)).toEqual([1, 1].map((value) => ({ ok: true, value })));
});

test("a neighbour that may have changed something is not run again, and is told why", async () => {
  const fire = engineWith();
  room.world.hadEffect = true;
  const [, other] = await Promise.all([fire(WEDGE, { guest: "bad" }), fire(AFTER_1500_MS, { guest: "a" })]);
  expect(other).toMatchObject({
    ok: false,
    killed: false,
    failure: { code: "unavailable", message: expect.stringMatching(/not asked again because it may have changed/) },
  });
});

test("a kill that comes when the event is answered already is told of the hook, and harms no other event", async () => {
  const fire = engineWith();
  const code = `${WEDGE.replace("export default () =>", "const wedge = () =>")}; export default () => { setTimeout(wedge, 1); return 1; }`;
  const before = hosts();
  expect(await fire(code)).toEqual({ ok: true, value: 1 });
  const [host] = hosts().filter((pid) => !before.includes(pid));
  await expect.poll(() => host !== undefined && hosts().includes(host), WAIT).toBe(false);
  await expect.poll(() => room.printed.filter((line) => line.startsWith("killed ")), WAIT).toHaveLength(1);
  expect(await fire(QUICK)).toEqual({ ok: true, value: 1 });
});

test("a hook that gives up its time limit in a wedge is answered for at its limit, and killed all the same", async () => {
  const fire = engineWith();
  expect(await fire(WEDGE, { timeoutMs: 100 })).toMatchObject({
    ok: false,
    killed: false,
    failure: { code: "timed_out" },
  });
  expect(await fire(QUICK, { guest: "other" })).toEqual({ ok: true, value: 1 });
});

test("memory that isolates do not count costs the process", async () => {
  const fire = engineWith({ rssKillMib: 200 });
  // What V8 allots outside its heap is hardly counted by the isolate's own limit.
  const code = `const kept = []; export default async () => {
    for (let i = 0; i < 400; i++) {
      const buffer = new ArrayBuffer(1, { maxByteLength: 2 ** 22 });
      buffer.resize(2 ** 22);
      new Uint8Array(buffer).fill(1);
      kept.push(buffer);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return kept.length;
  }`;
  const fired = await fire(code);
  expect(fired).toMatchObject({ ok: false, failure: { code: "exhausted" } });
  expect(fired.ok ? "" : fired.failure.message).toMatch(/MiB/);
  expect(await fire(QUICK)).toEqual({ ok: true, value: 1 });
});

test("groups share no process; the spare one is taken by the next group that needs one, and replaced", async () => {
  const fire = engineWith();
  await fire(COUNTER, { group: "a" });
  await expect.poll(() => hosts().length, WAIT).toBe(2);
  const [first, spare] = hosts();
  await fire(COUNTER, { group: "b" });
  await expect.poll(() => hosts().length, WAIT).toBe(3);
  expect(hosts()).toEqual(expect.arrayContaining([first, spare]));
  await fire(WEDGE, { group: "b", guest: "bad" });
  await expect.poll(() => hosts().includes(spare ?? 0), WAIT).toBe(false);
  expect(hosts()).toContain(first);
  expect(await fire(COUNTER, { group: "a" })).toEqual({ ok: true, value: 2 });
});

test("no more processes live than may, and the group that was idle for longest makes room", async () => {
  const fire = engineWith({ hostsMax: 2 });
  const count = async (group: string) => {
    const fired = await fire(COUNTER, { group });
    return fired.ok ? fired.value : fired.failure.message;
  };
  const counts = [];
  for (const group of ["a", "b", "b", "c", "b", "a"]) counts.push(await count(group));
  expect(counts).toEqual([1, 1, 2, 1, 3, 1]);
  await expect.poll(() => hosts().length, WAIT).toBe(3);
});

test("groups that find no process wait for one, and a crowd of newcomers does not drive out who works", async () => {
  const fire = engineWith({ hostsMax: 2 });
  expect(await fire(COUNTER, { group: "old" })).toEqual({ ok: true, value: 1 });
  let crowded = true;
  const crowd = Promise.all(["a", "b", "c", "d"].map((group) => fire(AFTER_100_MS, { group }))).finally(() => {
    crowded = false;
  });
  let last: Fired = { ok: true, value: 1 };
  let fired = 1;
  for (; crowded; fired += 1) last = await fire(COUNTER, { group: "old" });
  // Its isolate was there all the time, but for its replacement after a thousand events.
  expect(last).toEqual({ ok: true, value: ((fired - 1) % 1000) + 1 });
  expect(await crowd).toEqual([1, 1, 1, 1].map((value) => ({ ok: true, value })));
});

test("a group waits for a process no longer than it may", async () => {
  const fire = engineWith({ hostsMax: 1, queueMs: 300 });
  const long = fire(AFTER_1500_MS, { group: "a" });
  expect(await fire(QUICK, { group: "b" })).toMatchObject({
    ok: false,
    failure: { code: "exhausted", message: expect.stringMatching(/no process was free for 300 ms/) },
  });
  expect(await long).toEqual({ ok: true, value: 1 });
});

test("a process is replaced after so many isolates, when nobody has work in it", async () => {
  const fire = engineWith({ guestsPerLifeMax: 3 });
  const before = hosts();
  await fire(QUICK, { guest: "1" });
  const [first] = hosts().filter((pid) => !before.includes(pid));
  for (const guest of ["2", "3", "4"]) expect(await fire(QUICK, { guest })).toEqual({ ok: true, value: 1 });
  await expect.poll(() => hosts().includes(first ?? 0), WAIT).toBe(false);
});

test("processes without work end after a while, the spare one too", async () => {
  const fire = engineWith({ idleMs: 1500 });
  await fire(QUICK);
  await expect.poll(() => hosts().length, WAIT).toBe(2);
  await expect.poll(() => hosts().length, WAIT).toBe(0);
  expect(await fire(QUICK)).toEqual({ ok: true, value: 1 });
});
