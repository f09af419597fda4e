import { expect, test } from "vitest";
import { type EndTurn, type EventQueue, eventQueue } from "./event-queue.ts";

const NEVER = new AbortController().signal;

/** Enters events that note their start by name. */
function bench(queue: EventQueue) {
  const started: string[] = [];
  const ends = new Map<string, EndTurn>();
  return {
    started,
    async enter(name: string, guest = name, alone = false, signal = NEVER) {
      const turn = await queue.enter(guest, alone, signal);
      started.push(typeof turn === "string" ? `${name} ${turn}` : name);
      if (typeof turn !== "string") ends.set(name, turn);
    },
    /** Ends a turn, and lets those begin who waited for it. */
    async end(name: string) {
      ends.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

test("of one guest one event has its turn, of all so many", async () => {
  const freed: string[] = [];
  const { started, enter, end, settle } = bench(eventQueue(2, 9, 60_000, () => freed.push("freed")));
  void Promise.all([enter("a1", "a"), enter("a2", "a"), enter("b"), enter("c")]);
  await settle();
  expect(started).toEqual(["a1", "b"]);
  await end("b");
  expect(started).toEqual(["a1", "b", "c"]);
  await end("a1");
  await end("a1");
  expect(started).toEqual(["a1", "b", "c", "a2"]);
  expect(freed).toEqual(["freed", "freed"]);
});

test("one who is to be alone goes first, waits for those that run, and lets nobody in beside", async () => {
  const { started, enter, end, settle } = bench(eventQueue(2, 9, 60_000, () => {}));
  void Promise.all([enter("a"), enter("b"), enter("c"), enter("x", "x", true), enter("y", "y", true)]);
  await settle();
  await end("a");
  expect(started).toEqual(["a", "b"]);
  await end("b");
  expect(started).toEqual(["a", "b", "x"]);
  await end("x");
  expect(started).toEqual(["a", "b", "x", "y"]);
  await end("y");
  expect(started).toEqual(["a", "b", "x", "y", "c"]);
});

test("too many are turned away, but never one who is to be alone", async () => {
  const { started, enter, settle } = bench(eventQueue(1, 1, 60_000, () => {}));
  void Promise.all([enter("a"), enter("b"), enter("c"), enter("x", "x", true)]);
  await settle();
  expect(started.sort()).toEqual(["a", "c full"]);
});

test("one who is interrupted or waits too long leaves the queue, and those behind go on", async () => {
  const stop = new AbortController();
  const { started, enter, end, settle } = bench(eventQueue(1, 9, 40, () => {}));
  void enter("a");
  const late = enter("b");
  void Promise.all([enter("x", "x", true, stop.signal)]);
  await settle();
  stop.abort();
  await late;
  void enter("c");
  await end("a");
  expect(started).toEqual(["a", "x aborted", "b late", "c"]);
  await enter("d", "d", false, stop.signal);
  expect(started.at(-1)).toBe("d aborted");
});
