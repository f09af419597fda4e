import { describe, expect, test } from "vitest";
import { type Permission, parsePermission, printPermission } from "./permission.ts";

const good: [text: string, value: Permission[], printed?: string][] = [
  ["read", [{ kind: "read" }]],
  ["read=./src", [{ kind: "read", path: "/base/src" }], "read=/base/src"],
  ["read=.", [{ kind: "read", path: "/base" }], "read=/base"],
  ["write=/a//b/./c/../d/", [{ kind: "write", path: "/a/b/d" }], "write=/a/b/d"],
  ["read=../../../x", [{ kind: "read", path: "/x" }], "read=/x"],
  ["read=/", [{ kind: "read", path: "/" }]],
  ["net", [{ kind: "net" }]],
  ["net=Example.COM.", [{ kind: "net", host: "example.com" }], "net=example.com"],
  ["net=*.example.com:443", [{ kind: "net", host: "*.example.com", port: 443 }]],
  ["net=0x7f.1:80", [{ kind: "net", host: "127.0.0.1", port: 80 }], "net=127.0.0.1:80"],
  ["net=[0:0::1]:8080", [{ kind: "net", host: "::1", port: 8080 }], "net=[::1]:8080"],
  ["net=bücher.example", [{ kind: "net", host: "xn--bcher-kva.example" }], "net=xn--bcher-kva.example"],
  ["env=HOME", [{ kind: "env", name: "HOME" }]],
  ["env=APP_*", [{ kind: "env", name: "APP_*" }]],
  ["run=git", [{ kind: "run", program: "git" }]],
  ["run=./bin/tool", [{ kind: "run", program: "/base/bin/tool" }], "run=/base/bin/tool"],
  ["sys=hostname", [{ kind: "sys", api: "hostname" }]],
  ["tool=mcp_files_*", [{ kind: "tool", name: "mcp_files_*" }]],
  ["memory=read", [{ kind: "memory", access: "read" }]],
];

test.each(good)("%s is understood, and printed so that it is read back the same", (text, value, printed = text) => {
  expect(parsePermission(text, "/base")).toEqual({ ok: true, value });
  expect(value.map(printPermission).join(" ")).toBe(printed);
  expect(parsePermission(printed, "/elsewhere")).toEqual({ ok: true, value });
});

test("a list is several permissions", () => {
  expect(parsePermission("read=./a, /b", "/base")).toEqual({
    ok: true,
    value: [
      { kind: "read", path: "/base/a" },
      { kind: "read", path: "/b" },
    ],
  });
});

describe("what is wrong is named", () => {
  const bad: [text: string, part: string][] = [
    ["raed=/x", '"raed" is no kind of permission; did you mean "read"?'],
    ["network=x", '"network" is no kind of permission'],
    ["Net", 'did you mean "net"?'],
    ["", '"" is no kind of permission (there are read, write'],
    ["ffi", '"ffi" cannot be granted'],
    ["read=", 'a value is missing after "read="'],
    ["read=/a,,/b", "a value is missing"],
    ["read=~/x", "~ is not resolved here"],
    ["read=/x/*.ts", "paths have no patterns"],
    ["read=/x\0y", "not a path"],
    ["net=https://example.com", "an address or a network"],
    ["net=10.0.0.0/8", "an address or a network"],
    ["net=::1", "an IPv6 address stands in brackets"],
    ["net=*", "not a host"],
    ["net=a*.example.com", "not a host"],
    ["net=*.com", "too wide"],
    ["net=*.127.0.0.1", "too wide"],
    ["net=user@example.com", "not a host"],
    ["net=example.com:0", "the port must be 1 to 65535"],
    ["net=example.com:65536", "the port must be 1 to 65535"],
    ["net=:443", "not a host"],
    ["env=A B", "env=A B: not a name"],
    ["env=*A", "not a name"],
    ["run=git status", "not the name of a program"],
    ["sys=passwd", "unknown; there are hostname"],
    ["memory=all", "unknown; there are read and write"],
  ];
  test.each(bad)("%j", (text, part) => {
    const parsed = parsePermission(text, "/base");
    expect(parsed.ok).toBe(false);
    expect(parsed.ok ? "" : parsed.message).toContain(part);
  });
});
