import { expect, test } from "vitest";
import { readFolder } from "./folder-path.ts";

test.each([
  ["/home/ann", "/home/ann"],
  ["/home/ann/", "/home/ann"],
  ["/home//ann/./notes/..", "/home/ann"],
  ["/", "/"],
  ["//", "/"],
])("%j is the folder %j", (written, folder) => {
  expect(readFolder(written)).toEqual({ ok: true, value: folder });
});

test.each(["", "notes", "./notes", "~/notes", "/a\0b"])("%j names no folder", (written) => {
  expect(readFolder(written)).toMatchObject({
    ok: false,
    failure: { code: "invalid", hint: "name the folder from / on" },
  });
});
