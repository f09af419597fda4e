import { expect, test } from "vitest";
import { encodeFrame, type Frame, frameDecoder, frameEncoder } from "./frame.ts";

const LIMIT_BYTES = 64;

function decode(chunks: readonly Uint8Array[]): { frames: unknown[]; broken: string[] } {
  const frames: Frame[] = [];
  const broken: string[] = [];
  const decoder = frameDecoder(
    LIMIT_BYTES,
    (frame) => frames.push(frame),
    (why) => broken.push(why),
  );
  for (const chunk of chunks) decoder.push(chunk);
  return { frames, broken };
}

function frameOf(text: string): Frame {
  return { kind: 7, guest: 2 ** 32 - 1, number: 12, text };
}

function encode(frame: Frame): Buffer {
  return encodeFrame(frame, LIMIT_BYTES) ?? Buffer.alloc(0);
}

function raw(body: Uint8Array): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32LE(body.length);
  return Buffer.concat([header, body]);
}

test("frames come out whole, wherever the stream is cut", () => {
  const frames = ['{"a":1}', "žluť 🐎", "", "\u0000\ufeff"].map(frameOf);
  const bytes = Buffer.concat(frames.map(encode));
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    expect(decode(chunks)).toEqual({ frames, broken: [] });
  }
});

test("a byte order mark at the start of a text is part of it", () => {
  expect(decode([encode(frameOf("\ufeffx"))]).frames).toEqual([frameOf("\ufeffx")]);
});

test("a length above the limit breaks the stream before a byte of it is kept, and nothing after is heard", () => {
  const header = Buffer.from([0xff, 0xff, 0xff, 0xff]);
  expect(decode([encode(frameOf("1")), header, encode(frameOf("2"))])).toEqual({
    frames: [frameOf("1")],
    broken: ["a frame of 4294967295 bytes, 64 are the limit"],
  });
});

test.each([
  ["nothing in it", Buffer.alloc(0), "a frame of 0 bytes, 9 are the least"],
  ["less than its fields", Buffer.alloc(8), "a frame of 8 bytes, 9 are the least"],
  ["no UTF-8", Buffer.concat([Buffer.alloc(9), Buffer.from([0xff])]), "a frame that is not UTF-8"],
])("a frame with %s breaks the stream", (_what, body, why) => {
  expect(decode([raw(body), encode(frameOf("2"))])).toEqual({ frames: [], broken: [why] });
});

test("a text above the limit is not encoded", () => {
  expect(encodeFrame(frameOf("x".repeat(LIMIT_BYTES - 9)), LIMIT_BYTES)).toBeDefined();
  expect(encodeFrame(frameOf("x".repeat(LIMIT_BYTES - 8)), LIMIT_BYTES)).toBeUndefined();
});

test("an encoder that reuses its buffer makes the same bytes, small and large", () => {
  const encodeNext = frameEncoder(1_000_000);
  for (const text of ["", "žluť 🐎", "x".repeat(16_384), "ž".repeat(16_385), "\ud800", "x".repeat(2_000_000)])
    expect(encodeNext(frameOf(text))).toEqual(encodeFrame(frameOf(text), 1_000_000));
});
