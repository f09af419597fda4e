import { expect, test } from "vitest";
import { type Checked, check } from "./grant.ts";
import { type Grant, type Permission, parsePermission } from "./permission.ts";

function parseAll(texts: string): Permission[] {
  return texts
    .split(" ")
    .filter(Boolean)
    .flatMap((text) => {
      const parsed = parsePermission(text, "/base");
      if (!parsed.ok) throw new Error(parsed.message);
      return parsed.value;
    });
}

function grantOf(allow: string, deny = ""): Grant {
  return { allow: parseAll(allow), deny: parseAll(deny) };
}

test("a denial names the flag that would allow it", () => {
  expect(check(grantOf("read=/a"), { kind: "read", path: "/x/y" })).toEqual({
    ok: false,
    message: "read=/x/y is not granted",
    hint: "grant it with --allow-read=/x/y",
  });
  expect(check(grantOf("net", "net=*.example.com"), { kind: "net", host: "a.example.com", port: 443 })).toEqual({
    ok: false,
    message: "net=a.example.com:443 is denied",
    hint: "take away --deny-net=*.example.com to allow it",
  });
});

test("what was checked carries the proof in its type, in its normal form", () => {
  const use = (permission: Checked<{ kind: "read"; path: string }>) => permission.path;
  const checked = check(grantOf("read=/a"), { kind: "read", path: "/a/./b//c" });
  expect(checked.ok && use(checked.value)).toBe("/a/b/c");
  // @ts-expect-error a permission that nobody checked cannot be used
  expect(use({ kind: "read", path: "/etc" })).toBe("/etc");
});

test("a request of any length is judged at once", () => {
  const long = 4_000_000;
  const requests: Permission[] = [
    { kind: "read", path: `/${" ".repeat(long)}` },
    { kind: "read", path: `/${"\\".repeat(long)}` },
    { kind: "net", host: "a.".repeat(long) },
    { kind: "env", name: "A".repeat(long) },
    { kind: "tool", name: "*".repeat(long) },
    { kind: "run", program: `./${",".repeat(long)}` },
    { kind: "memory", access: "read", namespace: " ".repeat(long) },
  ];
  const grant = grantOf("read net env=HOME tool=read run=ls memory=read:a");
  for (const request of requests) expect(check(grant, request).ok).toBe(false);
});
