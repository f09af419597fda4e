import { expect, test } from "vitest";
import { analyze, groupOf } from "../lexical/fixtures/index-group.ts";
import { buildSegment } from "../lexical/segment-build.ts";
import { buildVectorBlock } from "../vector/vector-block.ts";
import { openedBlocks, openedSegments } from "./opened-segments.ts";

const pieces = [{ id: 1, group: 0, title: "", text: "green tea", atMs: 0 }];

test("a segment is opened once, whatever object its bytes come in, until nobody has asked for it in a while", () => {
  const buffer = buildSegment({ groups: [groupOf({})], documents: pieces }, analyze);
  const open = openedSegments();
  const [first] = open([{ key: 1, buffer }]);
  expect(open([{ key: 1, buffer: structuredClone(buffer) }])[0]).toBe(first);
  for (let search = 0; search < 33; search += 1) open([]);
  expect(open([{ key: 1, buffer }])[0]).not.toBe(first);
});

test("a block keeps the memory that it came with first: its scan hangs on that", () => {
  const open = openedBlocks();
  const block = buildVectorBlock(2, [Float32Array.of(1, 0)], false);
  expect(open([{ key: 5, block }])[0]).toBe(block);
  expect(open([{ key: 5, block: { ...block } }])[0]).toBe(block);
});

test("bytes that are no segment are told", () => {
  expect(() => openedSegments()([{ key: 1, buffer: new SharedArrayBuffer(64) }])).toThrow("damaged");
});
