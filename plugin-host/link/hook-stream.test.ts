import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { beforeAll, expect, test } from "vitest";
import {
  type StreamHooksRequest,
  type StreamHooksResponse,
  StreamHooksResponseSchema,
} from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { buildWall, type ConnectWall } from "./connect-wall.ts";
import { MAX_UNANSWERED, openHookStream } from "./hook-stream.ts";

type Plugin = (requests: AsyncIterable<StreamHooksRequest>, signal: AbortSignal) => AsyncIterable<StreamHooksResponse>;

const NEVER = new AbortController().signal;
const EVENT = { at: "tool.before" };
const answer = (id: number, block: string) =>
  create(StreamHooksResponseSchema, { id, answer: { verdict: { case: "block", value: block } } });

let wall: ConnectWall;
beforeAll(async () => {
  wall = await buildWall();
});

test("answers find their events in whatever order they come", async () => {
  const backwards: Plugin = async function* (requests) {
    const ids: number[] = [];
    for await (const { kind } of requests) {
      if (kind.case !== "event" || ids.push(kind.value.id) < 3) continue;
      for (const id of ids.toReversed()) yield answer(id, `number ${id}`);
    }
  };
  const stream = openHookStream(backwards, wall);
  const answers = await Promise.all([1, 2, 3].map(() => stream.run(EVENT, NEVER)));
  expect(answers.map(({ verdict }) => verdict.value)).toEqual(["number 1", "number 2", "number 3"]);
  expect(stream.unanswered()).toBe(0);
  stream.close();
});

test("an event that nobody waits for is cancelled, and its late answer is counted and dropped", async () => {
  const late: Plugin = async function* (requests) {
    for await (const { kind } of requests) {
      if (kind.case === "cancelled") yield answer(kind.value, "too late");
      if (kind.case === "event" && kind.value.id > 1) yield answer(kind.value.id, "in time");
    }
  };
  const stream = openHookStream(late, wall);
  const abort = new AbortController();
  const first = stream.run(EVENT, abort.signal);
  await stream.run(EVENT, NEVER);
  abort.abort();
  await expect(first).rejects.toMatchObject({ kind: "cancelled" });
  expect((await stream.run(EVENT, NEVER)).verdict.value).toBe("in time");
  expect(stream.late()).toBe(1);
  stream.close();
});

test("a plugin that answers nothing gets no more than so many events", async () => {
  const silent: Plugin = async function* (requests) {
    for await (const _ of requests) yield* [];
  };
  const stream = openHookStream(silent, wall);
  const waiting = Array.from({ length: MAX_UNANSWERED }, () => stream.run(EVENT, NEVER));
  await expect(stream.run(EVENT, NEVER)).rejects.toThrow(/wait for the plugin's answer already/);
  expect(stream.unanswered()).toBe(MAX_UNANSWERED);
  stream.close();
  const ends = await Promise.allSettled(waiting);
  expect(ends.every(({ status }) => status === "rejected")).toBe(true);
});

test("a plugin that reads nothing costs no memory: events that it never saw are taken back", async () => {
  const asleep: Plugin = async function* (_requests, signal) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    yield* [];
  };
  const stream = openHookStream(asleep, wall);
  for (let count = 0; count < 5_000; count++) {
    const abort = new AbortController();
    const event = stream.run(EVENT, abort.signal);
    abort.abort();
    await expect(event).rejects.toMatchObject({ kind: "cancelled" });
  }
  expect(stream.isOpen()).toBe(true);
  stream.close();
});

test.each([
  [Code.Unimplemented, "unserved"],
  [Code.Unavailable, "broken"],
])("a stream that fails with code %s rejects what waits as %s, and stays closed", async (code, kind) => {
  // biome-ignore lint/correctness/useYield: it fails before it says anything
  const failing: Plugin = async function* (requests) {
    for await (const _ of requests) throw new ConnectError("no", code);
  };
  const stream = openHookStream(failing, wall);
  await expect(stream.run(EVENT, NEVER)).rejects.toMatchObject({ kind });
  expect(stream.isOpen()).toBe(false);
});
