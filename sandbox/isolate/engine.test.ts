import { afterAll, beforeAll, expect, test } from "vitest";
import { type EngineRoom, openEngineRoom, QUIET_CONTEXT } from "../fixtures/engine-room.ts";

let room: EngineRoom;
beforeAll(async () => {
  room = await openEngineRoom();
  if (room.launcher.level === "none") console.info(`no bubblewrap here: ${room.launcher.detail}`);
});
afterAll(() => room.close());

const COUNTER = "let n = 0; export default () => ++n";

test("a hook answers an event", async () => {
  const fired = await room.fire("export default (event) => ({ got: event })", { event: { a: [1, "ž"] } });
  expect(fired).toEqual({ ok: true, value: { got: { a: [1, "ž"] } } });
});

test("a guest keeps its state between events, and shares it with no other guest of its group", async () => {
  const fire = (guest: string) => room.fire(COUNTER, { group: "counters", guest });
  expect([await fire("a"), await fire("a"), await fire("b"), await fire("a")]).toEqual(
    [1, 2, 1, 3].map((value) => ({ ok: true, value })),
  );
});

test("a guest that is forgotten, or whose program has changed, begins anew", async () => {
  const fire = (code: string) => room.fire(code, { group: "fresh", guest: "a" });
  await fire(COUNTER);
  room.engine.forget("fresh", "a");
  expect(await fire(COUNTER)).toEqual({ ok: true, value: 1 });
  expect(await fire(`${COUNTER} // changed`)).toEqual({ ok: true, value: 1 });
});

test("events of one guest are answered one after the other, in their order", async () => {
  const code = `let open = 0; export default async (event) => {
    open += 1;
    await new Promise((resolve) => setTimeout(resolve, event.wait));
    return { n: event.n, beside: --open };
  }`;
  const waits = [30, 1, 10, 1];
  const fired = await Promise.all(waits.map((wait, n) => room.fire(code, { guest: "queue", event: { n, wait } })));
  expect(fired).toEqual(waits.map((_wait, n) => ({ ok: true, value: { n, beside: 0 } })));
});

test("what a guest prints and does not catch is passed on", async () => {
  room.printed.length = 0;
  const code =
    "export default () => { console.log('seen', { a: 1 }); setTimeout(() => { throw new Error('late') }, 1) }";
  await room.fire(code, { guest: "talker" });
  await expect.poll(() => room.printed).toEqual(["seen { a: 1 }\n", expect.stringMatching(/^fault Error: late/)]);
});

test("a rejection that a listener sees to takes nothing from the answer", async () => {
  const code = `addEventListener("unhandledrejection", (event) => { event.preventDefault(); console.log(String(event.reason)); });
    export default async () => { Promise.reject(new RangeError("seen to")); return "answer"; }`;
  room.printed.length = 0;
  expect(await room.fire(code, { guest: "careful" })).toEqual({ ok: true, value: "answer" });
  await expect.poll(() => room.printed).toEqual(["RangeError: seen to\n"]);
});

test("what cannot be read of a rejection, and what its own listener leaves, ends no guest but its own", async () => {
  const wedge = "export default () => { Promise.reject(new Proxy({}, { get() { for (;;); } })); return 1 }";
  expect((await room.fire(wedge, { group: "bad" })).ok).toBe(false);
  const again = `addEventListener("unhandledrejection", () => { Promise.reject(new Error("again")); });
    export default () => { Promise.reject(new Error("first")); return 1 }`;
  expect(await room.fire(again)).toMatchObject({
    ok: false,
    failure: { message: expect.stringMatching(/first|again/) },
  });
  expect(await room.fire("export default () => 2")).toEqual({ ok: true, value: 2 });
});

test("a hook that stands still is refused", async () => {
  const code = "export default () => { Deno.readTextFileSync('x') }";
  expect(await room.fire(code)).toMatchObject({
    failure: { message: expect.stringMatching(/synchronous call in a hook/) },
  });
});

test.each([
  ["throws", "export default () => { throw new TypeError('no') }", "invalid", /TypeError: no/],
  ["throws at its top level", "throw new TypeError('no'); export default 1", "invalid", /TypeError: no/],
  ["has no function", "export default 1", "invalid", /no function/],
  [
    "leaves a rejection",
    "export default () => { Promise.reject(new TypeError('left')); return 1 }",
    "invalid",
    /TypeError: left/,
  ],
  [
    "leaves a rejection before it answers",
    "export default async () => { void (async () => { throw 5 })(); await new Promise((r) => setTimeout(r, 5)); return 1 }",
    "invalid",
    /5$/,
  ],
  ["never answers", "export default () => new Promise(() => {})", "invalid", /waits for something that never comes/],
  ["never loads", "await new Promise(() => {}); export default () => 1", "invalid", /never comes/],
  ["returns what is not JSON", "export default () => 10n", "invalid", /BigInt/],
  ["sends too much at once", "export default () => 'x'.repeat(2e6)", "exhausted", /makes no sense/],
])("a hook that %s fails, and nobody is killed for it", async (what, code, failure, message) => {
  const fired = await room.fire(code, { guest: what, group: "failing" });
  expect(fired).toMatchObject({ ok: false, killed: false, failure: { code: failure } });
  expect(fired.ok ? "" : fired.failure.message).toMatch(message);
});

test("calls go to the guest's capabilities, and their answers come back", async () => {
  room.world.call = async (name, args) =>
    name === "readTextFile"
      ? { ok: true, value: `read ${JSON.stringify(args)}` }
      : { ok: false, error: { name: "NotFound", message: "no such thing" } };
  const code = `export default async () => [
    await Deno.readTextFile("a.txt"),
    await Deno.stat("b.txt").catch((error) => [error.name, error.message, error instanceof Deno.errors.NotFound]),
  ]`;
  expect(await room.fire(code, { guest: "caller" })).toEqual({
    ok: true,
    value: [`read {"path":"a.txt"}`, ["NotFound", "no such thing", true]],
  });
});

test("sixty-four calls of megabytes at once are all answered", async () => {
  const megabyte = "m".repeat(2 ** 20);
  room.world.call = async () => ({ ok: true, value: megabyte });
  const code = `export default async () => {
    const read = () => Deno.readTextFile("big").then((text) => text.length);
    const lengths = await Promise.all(Array.from({ length: 64 }, read));
    return lengths.reduce((sum, length) => sum + length, 0);
  }`;
  const fired = await room.fire(code, { guest: "reader", timeoutMs: 30_000 });
  expect(fired).toEqual({ ok: true, value: 64 * 2 ** 20 });
});

test("an answer that no frame can carry is an error of the call, not the guest's end", async () => {
  const huge = "h".repeat(9 * 2 ** 20);
  room.world.call = async () => ({ ok: true, value: huge });
  const code = "export default () => Deno.readTextFile('x').catch((error) => error.message)";
  expect(await room.fire(code, { guest: "huge" })).toEqual({
    ok: true,
    value: "the answer is too large to be handed over",
  });
});

test("random bytes and digests come from the process itself", async () => {
  const code = `export default async () => {
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc"));
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    return { hash: Array.from(new Uint8Array(hash).slice(0, 4)), differs: new Set(bytes).size > 4 };
  }`;
  expect(await room.fire(code, { guest: "crypto" })).toEqual({
    ok: true,
    value: { hash: [0xba, 0x78, 0x16, 0xbf], differs: true },
  });
});

test("a library of the prelude comes when it is first needed", async () => {
  const code = "export default () => new URL('../b?c#d', 'https://example.org/x/y').href";
  expect(await room.fire(code, { guest: "url" })).toEqual({ ok: true, value: "https://example.org/b?c#d" });
});

test("an event that no frame can carry is refused, and the guest lives on", async () => {
  const fire = (event: string) => room.fire(COUNTER, { guest: "wide", event });
  await fire("x");
  expect(await fire("x".repeat(9 * 2 ** 20))).toMatchObject({
    ok: false,
    failure: { code: "exhausted" },
    killed: false,
  });
  expect(await fire("x")).toEqual({ ok: true, value: 2 });
});

test("an interrupted event ends at once, also before it began", async () => {
  const stop = new AbortController();
  const code = "export default () => new Promise((resolve) => setTimeout(resolve, 60_000))";
  const running = room.fire(code, { guest: "stopped", signal: stop.signal });
  const waiting = room.fire(code, { guest: "stopped", signal: stop.signal });
  stop.abort();
  const cancelled = { ok: false, failure: { code: "cancelled" }, killed: false };
  expect(await Promise.all([running, waiting, room.fire(code, { signal: stop.signal })])).toMatchObject([
    cancelled,
    cancelled,
    cancelled,
  ]);
});

test("an engine that was closed answers nothing more", async () => {
  const engine = room.open({});
  const plan = room.plan(COUNTER);
  const firing = { group: "g", guest: "g", plan, event: null, timeoutMs: 5000 };
  const context = { context: QUIET_CONTEXT, signal: new AbortController().signal };
  const slow = room.plan("export default () => new Promise((resolve) => setTimeout(resolve, 60_000))");
  const running = engine.fire({ ...firing, ...context, guest: "slow", plan: slow, timeoutMs: 60_000 });
  expect(await engine.fire({ ...firing, ...context })).toEqual({ ok: true, value: 1 });
  await engine.close();
  expect(await running).toMatchObject({ ok: false, failure: { code: "cancelled" }, killed: false });
  expect(await engine.fire({ ...firing, ...context })).toMatchObject({ ok: false, failure: { code: "unavailable" } });
});

test("an engine that is closed while a process starts ends what waits for it", async () => {
  const engine = room.open({});
  const firing = { group: "g", guest: "g", plan: room.plan(COUNTER), event: null, timeoutMs: 5000 };
  const starting = engine.fire({ ...firing, context: QUIET_CONTEXT, signal: new AbortController().signal });
  await engine.close();
  expect(await starting).toMatchObject({ ok: false, killed: false });
});

test("an event that is interrupted while its process starts ends at once, and others go on waiting for it", async () => {
  const engine = room.open({});
  const stop = new AbortController();
  const firing = { group: "g", plan: room.plan(COUNTER), event: null, timeoutMs: 5000, context: QUIET_CONTEXT };
  const first = engine.fire({ ...firing, guest: "a", signal: stop.signal });
  const second = engine.fire({ ...firing, guest: "b", signal: new AbortController().signal });
  stop.abort();
  expect(await first).toMatchObject({ ok: false, failure: { code: "cancelled" } });
  expect(await second).toEqual({ ok: true, value: 1 });
});
