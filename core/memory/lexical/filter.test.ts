import { expect, test } from "vitest";
import type { MemoryFilter } from "../../domain/memory.ts";
import { maskSegment, type SegmentFilter } from "./filter.ts";
import { groupOf, segmentOf } from "./fixtures/index-group.ts";
import { pathMatcher } from "./path-match.ts";

const GROUPS = [
  groupOf({ key: "/w/src/a.ts", labels: ["code"] }),
  groupOf({ key: "/w/docs/b.pdf", kind: "pdf" }),
  groupOf({ key: "n1", kind: "note", author: "owner", scope: "person", labels: ["code"] }),
  groupOf({ key: "n2", kind: "note", author: "agent", scope: "project:/w", expiresAtMs: 1_000 }),
  groupOf({ key: "s1", kind: "conversation", author: "owner", sessionId: "s1" }),
];
const segment = segmentOf(
  GROUPS.map((_, group) => ({ id: group, group, title: "", text: "x", atMs: group * 100 })),
  GROUPS,
);

function rows(filter: MemoryFilter & Partial<SegmentFilter>, dead?: Uint8Array): number[] {
  const mask = maskSegment(segment, { scopes: "all", nowMs: 0, ...filter }, dead);
  return Array.from(mask ?? [1, 1, 1, 1, 1]).flatMap((pass, row) => (pass === 1 ? [row] : []));
}

test("each filter narrows, and two filters both hold", () => {
  expect(rows({})).toEqual([0, 1, 2, 3, 4]);
  expect(rows({ kinds: ["file", "pdf"] })).toEqual([0, 1]);
  expect(rows({ kinds: [] })).toEqual([]);
  expect(rows({ authors: ["owner"] })).toEqual([2, 4]);
  expect(rows({ label: "code" })).toEqual([0, 2]);
  expect(rows({ sessionId: "s1" })).toEqual([4]);
  expect(rows({ path: "/w/src" })).toEqual([0]);
  expect(rows({ path: "n1" })).toEqual([]);
  expect(rows({ afterMs: 100, beforeMs: 300 })).toEqual([1, 2]);
  expect(rows({ afterMs: 100, and: { beforeMs: 300, authors: ["owner"] } })).toEqual([2]);
  expect(rows({ label: "code", and: { label: "other" } })).toEqual([]);
});

test("a note of another scope, an expired one and the dead are barred from everything", () => {
  expect(rows({ scopes: [] })).toEqual([0, 1, 4]);
  expect(rows({ scopes: ["person"] })).toEqual([0, 1, 2, 4]);
  expect(rows({ scopes: ["project:/w"], nowMs: 999 })).toEqual([0, 1, 3, 4]);
  expect(rows({ scopes: ["project:/w"], nowMs: 1_000 })).toEqual([0, 1, 4]);
  expect(rows({}, Uint8Array.of(1, 0, 0, 0, 1))).toEqual([1, 2, 3]);
});

test("what lets everything pass costs no mask", () => {
  const plain = segmentOf([{ id: 1, group: 0, title: "", text: "x", atMs: 5 }]);
  expect(maskSegment(plain, { scopes: [], nowMs: 9 }, undefined)).toBeUndefined();
  expect(maskSegment(plain, { scopes: [], nowMs: 9, and: {} }, undefined)).toBeUndefined();
});

test.each([
  ["/w/src", "/w/src/a.ts", true],
  ["/w/src/", "/w/src/deep/a.ts", true],
  ["/w/src", "/w/srcs/a.ts", false],
  ["/src", "/w/src/a.ts", false],
  ["src", "/w/src/a.ts", true],
  ["a.ts", "/w/src/a.ts", true],
  ["rc/a.ts", "/w/src/a.ts", false],
  ["*.ts", "/w/src/a.ts", true],
  ["*.ts", "/w/src/a.tsx", false],
  ["src/*", "/w/src/deep/a.ts", true],
  ["src/*.ts", "/w/src/deep/a.ts", false],
  ["src/**/*.ts", "/w/src/deep/er/a.ts", true],
  ["src/**/*.ts", "/w/src/a.ts", true],
  ["/w/**", "/w/src/a.ts", true],
  ["/s*", "/w/src/a.ts", false],
  ["a.??", "/w/src/a.ts", true],
  ["notion/*", "notion/page-1", true],
])("%s on %s: %s", (pattern, path, expected) => {
  expect(pathMatcher(pattern)(path)).toBe(expected);
});

test("a pattern that would make an expression go astray is judged at once", () => {
  expect(pathMatcher("*a".repeat(500))(`/${"a".repeat(4_000)}b`)).toBe(false);
});
