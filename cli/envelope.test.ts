import { expect, test } from "vitest";
import { openEnvelopeReader, packEnvelope } from "./envelope.ts";

const WORDS = ["", "a", "hello", "x".repeat(300)];
const STREAM = Buffer.concat(WORDS.map((word) => packEnvelope(Buffer.from(word))));

test.each([1, 2, 3, 5, 7, 64, 1_000])("a stream cut into pieces of %i bytes gives the same messages", (sizeBytes) => {
  const read = openEnvelopeReader(1_000);
  const found: string[] = [];
  for (let at = 0; at < STREAM.length; at += sizeBytes) {
    for (const { data } of read(STREAM.subarray(at, at + sizeBytes)) ?? []) found.push(Buffer.from(data).toString());
  }
  expect(found).toEqual(WORDS);
});

test("a length over the limit is refused before anything is kept", () => {
  const read = openEnvelopeReader(10);
  expect(read(packEnvelope(Buffer.from("0123456789")))).toHaveLength(1);
  expect(read(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]))).toBeUndefined();
});
