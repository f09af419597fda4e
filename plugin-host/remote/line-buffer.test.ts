import { expect, test } from "vitest";
import { openLineBuffer } from "./line-buffer.ts";

test("lines are the same in whatever pieces they come", () => {
  const text = 'a\n\n{"b":"Zürich 🎈"}\nlast';
  const bytes = Buffer.from(text);
  for (const size of [1, 2, 3, 7, bytes.byteLength]) {
    const buffer = openLineBuffer(64);
    const lines: string[] = [];
    for (let at = 0; at < bytes.byteLength; at += size)
      lines.push(...(buffer.take(bytes.subarray(at, at + size)) ?? []));
    expect(lines).toEqual(["a", "", '{"b":"Zürich 🎈"}']);
  }
});

test("a line may have as many bytes as were allowed, and not one more, ended or not", () => {
  expect(openLineBuffer(4).take(Buffer.from("abcd\n"))).toEqual(["abcd"]);
  expect(openLineBuffer(4).take(Buffer.from("abcde\n"))).toBeUndefined();
  expect(openLineBuffer(4).take(Buffer.from("abcde"))).toBeUndefined();
  // Bytes, not characters.
  expect(openLineBuffer(4).take(Buffer.from("äöü\n"))).toBeUndefined();
});

test("a million pieces of one byte keep no more than their bytes", () => {
  const buffer = openLineBuffer(1_000_000);
  const block = Buffer.alloc(64 * 1024, "a");
  for (let at = 0; at < 1_000_000; at += 1) {
    const from = at % block.byteLength;
    buffer.take(block.subarray(from, from + 1));
  }
  expect(buffer.take(Buffer.from("\n"))?.[0]?.length).toBe(1_000_000);
});
