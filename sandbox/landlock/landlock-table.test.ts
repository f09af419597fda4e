import { expect, test } from "vitest";
import { buildTable, type WallRule, type Walls } from "./landlock-table.ts";

const NEWEST = 7;
const none: Walls = { rules: [], isTcpShut: true, fileLimitBytes: undefined };

/** The attribute that the kernel is given, as hexadecimal words. */
function attributeOf(walls: Walls, abi: number): string[] {
  const table = buildTable(walls, abi);
  const words = Number(table.readBigUInt64LE(32)) / 8;
  return Array.from({ length: words }, (_, index) => table.readBigUInt64LE(40 + index * 8).toString(16));
}

/** Path and access of every rule. */
function rulesOf(rules: readonly WallRule[], abi = NEWEST): [string, string][] {
  const table = buildTable({ ...none, rules }, abi);
  const found: [string, string][] = [];
  for (let at = 64; at < table.length; ) {
    const end = table.indexOf(0, at + 8);
    found.push([table.toString("utf8", at + 8, end), table.readBigUInt64LE(at).toString(16)]);
    at = Math.ceil((end + 1) / 8) * 8;
  }
  return found;
}

test("a kernel is asked for no more than its ABI has", () => {
  expect(attributeOf(none, 2)).toEqual(["3fff"]);
  expect(attributeOf(none, 3)).toEqual(["7fff"]);
  expect(attributeOf(none, 4)).toEqual(["7fff", "3"]);
  expect(attributeOf(none, 5)).toEqual(["ffff", "3"]);
  expect(attributeOf(none, 6)).toEqual(["ffff", "3", "3"]);
  expect(attributeOf({ ...none, isTcpShut: false }, NEWEST)).toEqual(["ffff", "0", "3"]);
});

test("a folder gets the rights of its access, and what is no folder those that a file can have", () => {
  expect(
    rulesOf([
      { path: "/r", isFolder: true, access: "read" },
      { path: "/w", isFolder: true, access: "write" },
      { path: "/dev", isFolder: true, access: "devices" },
      { path: "/", isFolder: true, access: "list" },
      { path: "/r/file", isFolder: false, access: "read" },
      { path: "/w/file", isFolder: false, access: "write" },
    ]),
  ).toEqual([
    ["/r", "d"],
    ["/w", "f7bf"], // all but the making of devices
    ["/dev", "c00e"],
    ["/", "8"],
    ["/r/file", "5"],
    ["/w/file", "c007"],
  ]);
});

test("no rule gives a right that is not handled, which the kernel would refuse", () => {
  const rules = [
    { path: "/w", isFolder: true, access: "write" },
    { path: "/w/file", isFolder: false, access: "write" },
    { path: "/listed", isFolder: false, access: "list" },
  ] as const;
  expect(rulesOf(rules, 2)).toEqual([
    ["/w", "37bf"],
    ["/w/file", "7"],
  ]);
});

test("paths of every length begin at a multiple of 8, and are taken as bytes", () => {
  const paths = ["/", "/ä/ö", ...Array.from({ length: 9 }, (_, more) => `/folder${"x".repeat(more)}`)];
  const rules = paths.map((path) => ({ path, isFolder: true, access: "read" }) as const);
  expect(rulesOf(rules).map(([path]) => path)).toEqual(paths);
});

test("a limit of a file's size stands in the head, soft and hard", () => {
  const limitsOf = (fileLimitBytes: number | undefined) => {
    const table = buildTable({ ...none, fileLimitBytes }, NEWEST);
    return [table.readBigInt64LE(16), table.readBigInt64LE(24)];
  };
  expect(limitsOf(0)).toEqual([0n, 0n]);
  expect(limitsOf(4096)).toEqual([4096n, 4096n]);
  expect(limitsOf(undefined)).toEqual([-1n, -1n]);
});
