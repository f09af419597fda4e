import { expect, test } from "vitest";
import { encodeFrame, frameDecoder } from "./frame.ts";

const LIMIT_BYTES = 64;

function decode(chunks: readonly Uint8Array[]): { messages: unknown[]; broken: string[] } {
  const messages: unknown[] = [];
  const broken: string[] = [];
  const decoder = frameDecoder(
    LIMIT_BYTES,
    (message) => messages.push(message),
    (why) => broken.push(why),
  );
  for (const chunk of chunks) decoder.push(chunk);
  return { messages, broken };
}

function frame(message: unknown): Buffer {
  return encodeFrame(message, LIMIT_BYTES) ?? Buffer.alloc(0);
}

function raw(body: Uint8Array): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32LE(body.length);
  return Buffer.concat([header, body]);
}

test("frames come out whole, wherever the stream is cut", () => {
  const messages = [{ a: 1 }, "žluť 🐎", [null], 0];
  const bytes = Buffer.concat(messages.map(frame));
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    expect(decode(chunks)).toEqual({ messages, broken: [] });
  }
});

test("a length above the limit breaks the stream before a byte of it is kept, and nothing after is heard", () => {
  const header = Buffer.from([0xff, 0xff, 0xff, 0xff]);
  expect(decode([frame(1), header, frame(2)])).toEqual({
    messages: [1],
    broken: ["a frame of 4294967295 bytes, 64 are the limit"],
  });
});

test.each([
  ["no JSON", Buffer.from("{")],
  ["nothing", Buffer.alloc(0)],
  ["no UTF-8", Buffer.from([0x22, 0xff, 0x22])],
])("a frame with %s breaks the stream", (_what, body) => {
  expect(decode([raw(body), frame(2)])).toEqual({ messages: [], broken: ["a frame that is not JSON"] });
});

test("a message above the limit is not encoded", () => {
  expect(encodeFrame("x".repeat(LIMIT_BYTES - 2), LIMIT_BYTES)).toBeDefined();
  expect(encodeFrame("x".repeat(LIMIT_BYTES - 1), LIMIT_BYTES)).toBeUndefined();
});
