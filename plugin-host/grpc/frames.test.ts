import { expect, test } from "vitest";
import { createFrameReader, frameOf } from "./frames.ts";

const LIMIT_BYTES = 1000;

/** What a reader makes of bytes that come in pieces of a size. */
function readBy(sizeBytes: number, bytes: Uint8Array): readonly string[] {
  const read: string[] = [];
  const frames = createFrameReader(LIMIT_BYTES, (message) => read.push(Buffer.from(message).toString()));
  for (let at = 0; at < bytes.byteLength; at += sizeBytes) {
    expect(frames.take(bytes.subarray(at, at + sizeBytes))).toBeUndefined();
  }
  expect(frames.isAtEdge()).toBe(true);
  return read;
}

test.each([1, 2, 4, 5, 6, 7, 11, 100, 5000])("messages come out whole, in pieces of %i bytes", (sizeBytes) => {
  const messages = ["one", "", "x".repeat(LIMIT_BYTES), "", "four", "ü"];
  const bytes = Buffer.concat(messages.map((message) => frameOf(Buffer.from(message))));
  expect(readBy(sizeBytes, bytes)).toEqual(messages);
});

test("a message beyond the limit is known by its head, however little of it came", () => {
  const frames = createFrameReader(LIMIT_BYTES, () => {});
  const head = frameOf(new Uint8Array(LIMIT_BYTES + 1)).subarray(0, 5);
  expect(frames.take(head.subarray(0, 4))).toBeUndefined();
  expect(frames.take(head.subarray(4))).toBe("too large");
});

test("a compressed message is none", () => {
  const frames = createFrameReader(LIMIT_BYTES, () => {});
  expect(frames.take(new Uint8Array([1, 0, 0, 0, 1, 7]))).toBe("compressed");
});

test("a cut message is told from a whole one", () => {
  const frames = createFrameReader(LIMIT_BYTES, () => {});
  frames.take(frameOf(Buffer.from("whole")));
  expect(frames.isAtEdge()).toBe(true);
  frames.take(frameOf(Buffer.from("cut")).subarray(0, 6));
  expect(frames.isAtEdge()).toBe(false);
});
