import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type EngineRoom, openEngineRoom, QUIET_CONTEXT } from "../fixtures/engine-room.ts";
import type { Fired } from "./engine.ts";

let room: EngineRoom;
beforeAll(async () => {
  room = await openEngineRoom({ limits: { activeMs: 600 } });
});
afterAll(() => room.close());
beforeEach(() => {
  room.world.call = async () => ({ ok: true, value: "" });
  room.world.hadEffect = false;
  room.world.asking = 0;
});

const spin = (ms: number) => `const end = Date.now() + ${ms}; while (Date.now() < end);`;

function messageOf(fired: Fired): string {
  return fired.ok ? `answered ${JSON.stringify(fired.value)}` : fired.failure.message;
}

test("a hook that runs without a pause is ended at its slice, at every entry", async () => {
  const fire = (code: string, guest: string) => room.fire(code, { group: "loops", guest });
  const loop = "for (;;);";
  const fired = await Promise.all([
    fire(`export default () => { ${loop} }`, "event"),
    fire(`export default async () => { await null; ${loop} }`, "microtask"),
    fire(`export default () => new Promise(() => setTimeout(() => { ${loop} }, 1))`, "timer"),
    fire(`export default async () => { await Deno.readTextFile("x"); ${loop} }`, "reply"),
  ]);
  for (const one of fired) expect(messageOf(one)).toBe("ran for 200 ms without a pause");
  expect(messageOf(await fire(`${loop} export default 1`, "top level"))).toMatch(/without a pause|running time/);
});

test("all slices of an event together have a limit, whatever comes between them", async () => {
  const code = `export default async () => { for (;;) { ${spin(50)} await new Promise((r) => setTimeout(r, 1)); } }`;
  expect(messageOf(await room.fire(code, { guest: "busy" }))).toBe("used more than 600 ms of running time");
});

test("each event has running time of its own, and what an event leaves running uses up its own", async () => {
  const hundreds = `export default () => { ${spin(150)} }`;
  for (let event = 0; event < 6; event += 1)
    expect(await room.fire(hundreds, { guest: "steady" })).toEqual({ ok: true, value: null });
  const leaves = `let n = 0; export default () => { setInterval(() => { ${spin(50)} }, 1); return ++n; }`;
  expect(await room.fire(leaves, { guest: "leaver" })).toEqual({ ok: true, value: 1 });
  // Its isolate ends while nobody asks it anything; the next event gets a new one.
  await expect
    .poll(() => room.fire(leaves, { guest: "leaver" }), { interval: 1500, timeout: 10_000 })
    .toEqual({
      ok: true,
      value: 1,
    });
});

test("an answer that takes too long is given up", async () => {
  const code = "export default () => new Promise((resolve) => setTimeout(resolve, 60_000))";
  expect(await room.fire(code, { guest: "late", timeoutMs: 150 })).toMatchObject({
    ok: false,
    failure: { code: "timed_out", message: "gave no answer within 150 ms" },
    killed: false,
  });
});

test("the clock of an event stands still while a person is asked", async () => {
  room.world.call = async () => {
    room.world.asking = 1;
    await new Promise((resolve) => setTimeout(resolve, 900));
    room.world.asking = 0;
    return { ok: true, value: "yes" };
  };
  const code = "export default () => Deno.readTextFile('x')";
  expect(await room.fire(code, { guest: "asker", timeoutMs: 400 })).toEqual({ ok: true, value: "yes" });
});

test("waiting for its turn does not count, neither for an event nor for a whole queue of them", async () => {
  // Two run at one moment, so that the last ones wait longer than any of them may take.
  const engine = room.open({ sliceMs: 5000, activeMs: 5000 });
  const plan = room.plan(`export default () => { ${spin(150)} return 1; }`);
  const guests = Array.from({ length: 40 }, (_, index) => `waiter ${index}`);
  const fire = (guest: string) =>
    engine.fire({
      ...{ group: "queue", guest, plan, event: null, timeoutMs: 2500 },
      ...{ context: QUIET_CONTEXT, signal: new AbortController().signal },
    });
  const fired = await Promise.all(guests.map(fire));
  expect(fired).toEqual(guests.map(() => ({ ok: true, value: 1 })));
});

test("guests of one process take turns: one with many timers does not hold up another", async () => {
  const greedy = `export default () => {
    for (let i = 0; i < 60; i++) setTimeout(() => { ${spin(15)} }, 1);
    return new Promise((resolve) => setTimeout(resolve, 400));
  }`;
  const quick = "export default () => 1";
  await room.fire(quick, { group: "fair", guest: "quick" });
  const others = ["a", "b"].map((guest) => room.fire(greedy, { group: "fair", guest }));
  let answered = 0;
  const counting = (async () => {
    for (; answered < 5; answered += 1) await room.fire(quick, { group: "fair", guest: "quick" });
    return "counted";
  })();
  expect(await Promise.race([counting, Promise.all(others)])).toBe("counted");
  await Promise.all(others);
});

test("more events than may wait are refused with a clear text", async () => {
  const engine = room.open({ eventsAtOnceMax: 1, eventsWaitingMax: 2 });
  const plan = room.plan("export default () => new Promise((resolve) => setTimeout(() => resolve(1), 100))");
  const fire = (guest: string) =>
    engine.fire({
      ...{ group: "g", guest, plan, event: null, timeoutMs: 5000 },
      ...{ context: QUIET_CONTEXT, signal: new AbortController().signal },
    });
  const fired = await Promise.all(["a", "b", "c", "d"].map(fire));
  expect(fired.map(messageOf)).toEqual([
    "answered 1",
    "answered 1",
    "answered 1",
    "was not asked: 2 events wait for its process already",
  ]);
});

test.each([
  [
    "messages",
    "for (let i = 0; i < 1000; i++) console.log(i); for (let i = 0; i < 1100; i++) await Deno.stat('x')",
    /more than 2000 messages/,
  ],
  ["console lines", "for (let i = 0; i < 5000; i++) console.log(i); return 1", /answered 1/],
])("a flood of %s has a limit", async (what, code, message) => {
  room.printed.length = 0;
  // Time enough on a machine that is busy with others: it is the count that ends it here.
  const fired = await room.open({ sliceMs: 5000, activeMs: 20_000 }).fire({
    ...{ group: what, guest: what, plan: room.plan(`export default async () => { ${code} }`), event: null },
    ...{ timeoutMs: 20_000, context: QUIET_CONTEXT, signal: new AbortController().signal },
  });
  expect(messageOf(fired)).toMatch(message);
  expect(room.printed.length).toBeLessThanOrEqual(1000);
});

test("a guest that speaks past its prelude is held to the budgets by the broker", async () => {
  // What a prelude that was taken over could send, a stranger's host can send too.
  const code = `export default async () => {
    const never = Array.from({ length: 200 }, () => Deno.stat("x").then(() => 1, (error) => error.name));
    return Promise.all(never);
  }`;
  const fired = await room.fire(code, { guest: "calls" });
  expect(fired.ok && new Set(fired.value as string[])).toEqual(new Set([1, "RangeError"]));
});

test("an isolate is given up beyond its memory, and the next event works", async () => {
  const bomb = "export default () => { const a = []; for (;;) a.push(new Array(1e5).fill({})); }";
  const fired = await room.fire(bomb, { group: "memory", guest: "bomb" });
  expect(messageOf(fired)).toMatch(/memory|without a pause|process/);
  expect(await room.fire("export default () => 1", { group: "memory", guest: "bomb" })).toEqual({ ok: true, value: 1 });
});

test("the least recently used guest makes room for one more in its process", async () => {
  const engine = room.open({ guestsMax: 2 });
  const plan = room.plan("let n = 0; export default () => ++n");
  const fire = (guest: string) =>
    engine.fire({
      ...{ group: "g", guest, plan, event: null, timeoutMs: 5000 },
      ...{ context: QUIET_CONTEXT, signal: new AbortController().signal },
    });
  const counts = [];
  for (const guest of ["a", "b", "a", "c", "a", "b"]) counts.push(messageOf(await fire(guest)));
  expect(counts).toEqual([1, 1, 2, 1, 3, 1].map((n) => `answered ${n}`));
});
