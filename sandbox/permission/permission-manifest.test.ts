import { expect, test } from "vitest";
import { printPermission } from "./permission.ts";
import { parseManifestGrant } from "./permission-manifest.ts";

function print(manifest: unknown): string {
  const parsed = parseManifestGrant(manifest, "/base", "/home/me");
  if (!parsed.ok) return parsed.message;
  const { allow, deny } = parsed.value;
  return [...allow.map(printPermission), ...deny.map((one) => `!${printPermission(one)}`)].join(" ");
}

test("a table of kinds is a grant", () => {
  expect(print({ read: ["./src"], deny: { read: ["./src/.env"] } })).toBe("read=/base/src !read=/base/src/.env");
  expect(print({ net: true, sys: false, env: ["HOME", "APP_*"] })).toBe("net env=HOME env=APP_*");
  expect(print({ read: ["~/notes"], deny: { write: true } })).toBe("read=/home/me/notes !write");
  expect(print({})).toBe("");
});

test("a value of the table is one thing, commas and backslashes too", () => {
  expect(print({ read: ["/a,b", "/a\\b"] })).toBe("read=/a\\,b read=/a\\\\b");
  expect(print({ env: ["A,B"] })).toContain("env=A,B: not a name");
});

test("what is wrong is named", () => {
  expect(print("read")).toContain("permissions are a table");
  expect(print(null)).toContain("permissions are a table");
  expect(print({ deny: ["read"] })).toContain("deny: permissions are a table");
  expect(print({ raed: ["/x"] })).toContain('did you mean "read"?');
  expect(print({ all: true })).toContain('"all" cannot be granted');
  expect(print({ read: "/x" })).toContain("read: write true for all, or a list");
  expect(print({ read: [1] })).toContain("read: write true for all, or a list");
  expect(print({ deny: { net: ["a b"] } })).toContain("deny: net=a b: not a host");
  expect(print(JSON.parse('{"__proto__": true}'))).toContain('"__proto__" is no kind of permission');
});
