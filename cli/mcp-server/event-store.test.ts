import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { recentEvents } from "./event-store.ts";

const note = (words: string): JSONRPCMessage => ({ jsonrpc: "2.0", method: "note", params: { words } });

test("a stream is taken up behind the last message, without those of other streams and without its empty first", async () => {
  const store = recentEvents();
  const first = await store.storeEvent("a", {} as JSONRPCMessage);
  await store.storeEvent("a", note("1"));
  await store.storeEvent("b", {} as JSONRPCMessage);
  await store.storeEvent("b", note("other"));
  await store.storeEvent("a", note("2"));
  expect(await store.getStreamIdForEventId?.(first)).toBe("a");
  const sent: JSONRPCMessage[] = [];
  const send = async (_id: string, message: JSONRPCMessage) => {
    sent.push(message);
  };
  expect(await store.replayEventsAfter(first, { send })).toBe("a");
  expect(sent).toEqual([note("1"), note("2")]);
});

test("what is kept is bounded by number and by bytes, and the newest is always there", async () => {
  const store = recentEvents();
  const first = await store.storeEvent("a", note("1"));
  for (let count = 0; count < 512; count += 1) await store.storeEvent("a", note("more"));
  expect(await store.getStreamIdForEventId?.(first)).toBeUndefined();
  await expect(store.replayEventsAfter(first, { send: async () => {} })).rejects.toThrow(/not kept/);
  const before = await store.storeEvent("a", note("small"));
  const large = await store.storeEvent("a", note("x".repeat(3 * 1024 * 1024)));
  expect(await store.getStreamIdForEventId?.(before)).toBeUndefined();
  expect(await store.getStreamIdForEventId?.(large)).toBe("a");
});
