import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type EngineRoom, openEngineRoom, QUIET_CONTEXT } from "../fixtures/engine-room.ts";
import type { Fired, ScriptOrder, ScriptRun } from "./engine.ts";

let room: EngineRoom;
beforeAll(async () => {
  room = await openEngineRoom();
});
afterAll(() => room.close());

const exits: number[] = [];
beforeEach(() => {
  exits.length = 0;
  room.printed.length = 0;
  room.world.call = async () => ({ ok: true, value: "read" });
});

function run(code: string, more: Partial<Omit<ScriptOrder, "plan">> = {}): ScriptRun {
  return room.engine.run({
    ...{ plan: room.plan(code), jit: false, memoryMib: 64, timeLimitMs: 10_000, context: QUIET_CONTEXT },
    exit: (code) => exits.push(code),
    ...more,
  });
}

function messageOf(fired: Fired): string {
  return fired.ok ? "it ended well" : fired.failure.message;
}

describe.each([false, true])("a script with jit=%s", (jit) => {
  const start = (code: string, more: Partial<Omit<ScriptOrder, "plan">> = {}) => run(code, { jit, ...more });

  test("runs to its end, timers and calls included", async () => {
    const code =
      "console.log(1); setTimeout(async () => { console.log(await Deno.readTextFile('x')); }, 20); await null;";
    expect(await start(code).ended).toEqual({ ok: true, value: 0 });
    expect(room.printed).toEqual(["1\n", "read\n"]);
  });

  test("says its exit code", async () => {
    const script = start("setInterval(() => {}, 10); Deno.exit(7)");
    await expect.poll(() => exits, { timeout: 10_000 }).toEqual([7]);
    await script.kill();
    expect(await script.ended).toMatchObject({ ok: false, killed: false });
  });

  test("leaves the exit code that it set", async () => {
    expect(await start("Deno.exitCode = 3").ended).toEqual({ ok: true, value: 3 });
  });

  test("tells what it threw, and what nobody caught", async () => {
    expect(messageOf(await start("throw new TypeError('no')").ended)).toMatch(/^TypeError: no/);
    await start("setTimeout(() => { throw new RangeError('late') }, 1)").ended;
    expect(room.printed).toEqual([expect.stringMatching(/^fault RangeError: late/)]);
  });

  test("is stopped at its time limit, whether it works or waits", async () => {
    const [works, waits] = [
      start("for (;;);", { timeLimitMs: 400 }),
      start("setInterval(() => {}, 10)", { timeLimitMs: 400 }),
    ];
    expect(messageOf(await works.ended)).toMatch(/400 ms/);
    expect(messageOf(await waits.ended)).toMatch(/did not finish within 400 ms/);
  });

  test("is ended beyond its memory, whether V8 counts it or not", async () => {
    const heap = start("const a = []; for (;;) a.push(new Array(1e5).fill({}))");
    expect(messageOf(await heap.ended)).toMatch(/memory|process/);
    const buffers = start(`const kept = [];
      for (let i = 0; i < 400; i++) {
        const buffer = new ArrayBuffer(1, { maxByteLength: 2 ** 24 });
        buffer.resize(2 ** 24);
        new Uint8Array(buffer).fill(1);
        kept.push(buffer);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }`);
    expect(messageOf(await buffers.ended)).toMatch(/memory|process|MiB|RangeError/);
  });

  test("waits while nobody reads what it prints, and ends when it is killed", async () => {
    const script = start(
      "for (let i = 0; i < 3000; i++) console.log('x'.repeat(1000)); for (;;) await Deno.readTextFile('x')",
    );
    script.pause(true);
    script.pause(false);
    await expect.poll(() => room.printed.length, { timeout: 10_000 }).toBe(3000);
    await script.kill();
    expect(await script.ended).toMatchObject({ ok: false, killed: false, failure: { code: "cancelled" } });
  });
});

test("a script that waits for what never comes has ended", async () => {
  expect(await run("new Promise(() => {})").ended).toEqual({ ok: true, value: 0 });
  expect(messageOf(await run("await new Promise(() => {})").ended)).toMatch(/waits for something that never comes/);
});
