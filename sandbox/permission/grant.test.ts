import { describe, expect, test } from "vitest";
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

describe("a request is judged by the grant", () => {
  const table: [allow: string, deny: string, request: Permission, verdict: boolean][] = [
    ["", "", { kind: "read", path: "/a" }, false],
    ["read=/a", "", { kind: "read", path: "/a" }, true],
    ["read=/a", "", { kind: "read", path: "/a/b/c" }, true],
    ["read=/a", "", { kind: "read", path: "/a-evil" }, false],
    ["read=/a", "", { kind: "read", path: "/a/../b" }, false],
    ["read=/a", "", { kind: "read", path: "a" }, false],
    ["read=/a", "", { kind: "read", path: "/a\0/../../b" }, false],
    ["read=/a", "", { kind: "read" }, false],
    ["read=/a", "", { kind: "write", path: "/a" }, false],
    ["write=/a", "", { kind: "read", path: "/a" }, false],
    ["read", "", { kind: "read", path: "/a" }, true],
    ["read=/", "", { kind: "read", path: "/a" }, true],
    ["read=/a", "read=/a/b", { kind: "read", path: "/a/b/c" }, false],
    ["read=/a", "read=/a/b", { kind: "read", path: "/a/bc" }, true],
    ["read=/a/b", "read=/a", { kind: "read", path: "/a/b" }, false],
    ["read", "read=/a", { kind: "read" }, false],
    ["read=/a", "read", { kind: "read", path: "/a" }, false],
    ["net=example.com:443", "", { kind: "net", host: "example.com", port: 443 }, true],
    ["net=example.com:443", "", { kind: "net", host: "EXAMPLE.com.", port: 443 }, true],
    ["net=example.com:443", "", { kind: "net", host: "example.com", port: 80 }, false],
    ["net=example.com:443", "", { kind: "net", host: "example.com" }, false],
    ["net=example.com", "", { kind: "net", host: "example.com", port: 80 }, true],
    ["net=example.com", "", { kind: "net", host: "www.example.com", port: 80 }, false],
    ["net=*.example.com", "", { kind: "net", host: "example.com" }, true],
    ["net=*.example.com", "", { kind: "net", host: "a.b.example.com" }, true],
    ["net=*.example.com", "", { kind: "net", host: "evil-example.com" }, false],
    ["net=127.0.0.1", "", { kind: "net", host: "2130706433" }, true],
    ["net", "net=127.0.0.1", { kind: "net", host: "0177.0.0.1", port: 80 }, false],
    ["net", "net=example.com:25", { kind: "net", host: "example.com" }, false],
    ["net", "net=example.com:25", { kind: "net", host: "example.com", port: 443 }, true],
    ["net", "", { kind: "net", host: "a/b" }, false],
    ["env=APP_*", "", { kind: "env", name: "APP_KEY" }, true],
    ["env=APP_*", "", { kind: "env", name: "APP" }, false],
    ["env=APP_*", "env=APP_SECRET", { kind: "env", name: "APP_SECRET" }, false],
    ["env=HOME", "", { kind: "env", name: "home" }, false],
    ["run=git", "", { kind: "run", program: "git" }, true],
    ["run=git", "", { kind: "run", program: "/tmp/git" }, false],
    ["sys=cpus", "", { kind: "sys", api: "uid" }, false],
    ["tool=read", "", { kind: "tool", name: "read" }, true],
    ["tool=read", "", { kind: "tool", name: "readme" }, false],
    ["tool=mcp_*", "tool=mcp_shell", { kind: "tool", name: "mcp_shell" }, false],
    ["memory=read", "", { kind: "memory", access: "read" }, true],
    ["memory=read", "", { kind: "memory", access: "write" }, false],
    ["memory", "", { kind: "memory", access: "write" }, true],
  ];
  test.each(table)("allow [%s] deny [%s]: %j is %s", (allow, deny, request, verdict) => {
    expect(check(grantOf(allow, deny), request).ok).toBe(verdict);
  });
});

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
