import { expect, test } from "vitest";
import { createInbox } from "./inbox.ts";

function open() {
  const heard: string[] = [];
  const inbox = createInbox<number>(
    () => heard.push("room"),
    () => heard.push("left"),
  );
  return { inbox, heard };
}

async function collect<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const message of messages) all.push(message);
  return all;
}

test("a reader gets what came before it asked and after, then the end", async () => {
  const { inbox } = open();
  inbox.put(1, 1);
  const read = collect(inbox);
  inbox.put(2, 1);
  await Promise.resolve();
  inbox.put(3, 1);
  inbox.end();
  inbox.put(4, 1);
  expect(await read).toEqual([1, 2, 3]);
});

test("an error comes after the messages before it, and the first end counts", async () => {
  const { inbox } = open();
  inbox.put(1, 1);
  inbox.end(new Error("broken"));
  inbox.end();
  expect(await inbox.next()).toEqual({ done: false, value: 1 });
  await expect(inbox.next()).rejects.toThrow("broken");
});

test.each([
  { what: "many messages", messages: 16, sizeBytes: 1 },
  { what: "much", messages: 1, sizeBytes: 256 * 1024 },
])("$what makes it full until the reader has taken all", async ({ messages, sizeBytes }) => {
  const { inbox, heard } = open();
  for (let count = 0; count < messages; count += 1) inbox.put(count, sizeBytes);
  expect(inbox.isFull()).toBe(true);
  expect(heard).toEqual([]);
  for (let count = 0; count < messages; count += 1) await inbox.next();
  expect(inbox.isFull()).toBe(false);
  expect(heard).toEqual(["room"]);
});

test("who leaves early is heard once", async () => {
  const { inbox, heard } = open();
  inbox.put(1, 1);
  for await (const _ of inbox) break;
  expect(heard).toEqual(["left"]);
  expect(await inbox.next()).toEqual({ done: true, value: undefined });
});
