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
  ["net=10.9.8.7/8", [{ kind: "net", host: "10.0.0.0/8" }], "net=10.0.0.0/8"],
  ["net=10.0.0.0/8:443", [{ kind: "net", host: "10.0.0.0/8", port: 443 }]],
  ["net=10.0.0.1/32", [{ kind: "net", host: "10.0.0.1" }], "net=10.0.0.1"],
  ["net=[FC00::1]/7", [{ kind: "net", host: "fc00::/7" }], "net=[fc00::]/7"],
  ["net=[fc00::]/7:80", [{ kind: "net", host: "fc00::/7", port: 80 }]],
  ["net=[::ffff:10.0.0.1]", [{ kind: "net", host: "10.0.0.1" }], "net=10.0.0.1"],
  ["net=*.localhost", [{ kind: "net", host: "*.localhost" }]],
  ["net=*.Bücher.example", [{ kind: "net", host: "*.xn--bcher-kva.example" }], "net=*.xn--bcher-kva.example"],
  ["read=/a\\,b", [{ kind: "read", path: "/a,b" }]],
  ["read=/a\\\\b", [{ kind: "read", path: "/a\\b" }]],
  ["read=/a\\*", [{ kind: "read", path: "/a*" }]],
  ["read=/a b\\ ", [{ kind: "read", path: "/a b " }]],
  ["read= /a ", [{ kind: "read", path: "/a" }], "read=/a"],
  ["run=/opt/a\\,b", [{ kind: "run", program: "/opt/a,b" }]],
  ["memory=read", [{ kind: "memory", access: "read" }]],
  ["memory=query:notes/2024*", [{ kind: "memory", access: "query", namespace: "notes/2024*" }]],
  ["memory=write:notes", [{ kind: "memory", access: "write", namespace: "notes" }]],
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

test("~ is the home folder where there is one", () => {
  const home = (text: string) => parsePermission(text, "/base", "/home/me");
  expect(home("read=~")).toEqual({ ok: true, value: [{ kind: "read", path: "/home/me" }] });
  expect(home("write=~/a,./b")).toMatchObject({ value: [{ path: "/home/me/a" }, { path: "/base/b" }] });
  expect(home("run=~/bin/x")).toMatchObject({ value: [{ program: "/home/me/bin/x" }] });
  expect(home("read=./~")).toMatchObject({ value: [{ path: "/base/~" }] });
  expect(home("read=~root/x")).toMatchObject({ ok: false });
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
    ["import", '"import" cannot be granted'],
    ["all", '"all" cannot be granted'],
    ["read=file:///x", "a URL is no path"],
    ["read=https://example.com/x", "a URL is no path"],
    ["read=/a, ,/b", "a value is missing"],
    ["run=~/x", "~ is not resolved here"],
    ["net=https://example.com", "a URL; write HOST"],
    ["net=example.com/x", "neither a host nor a network"],
    ["net=10.0.0.0/33", "not a network"],
    ["net=example.com/8", "not a network"],
    ["net=[::1]/129", "not a network"],
    ["net=fc00::/7", "an IPv6 address stands in brackets"],
    ["net=*.co.uk", "too wide"],
    ["net=*.github.io", "too wide"],
    ["net=*.10.0.0.0/8", "an address has no names"],
    ["net=::1", "an IPv6 address stands in brackets"],
    ["net=*", "not a host"],
    ["net=a*.example.com", "not a host"],
    ["net=*.com", "too wide"],
    ["net=*.127.0.0.1", "an address has no names"],
    ["net=user@example.com", "not a host"],
    ["net=example.com:0", "the port must be 1 to 65535"],
    ["net=example.com:65536", "the port must be 1 to 65535"],
    ["net=:443", "not a host"],
    ["env=A B", "env=A B: not a name"],
    ["env=*A", "not a name"],
    ["run=git status", "not the name of a program"],
    ["sys=passwd", "unknown; there are hostname"],
    ["env=*", "not a name"],
    ["sys=networkInterfaces", "unknown; there are hostname"],
    ["memory=all", "unknown; there are query, read and write"],
    ["memory=read:a b", "not a namespace"],
  ];
  test.each(bad)("%j", (text, part) => {
    const parsed = parsePermission(text, "/base");
    expect(parsed.ok).toBe(false);
    expect(parsed.ok ? "" : parsed.message).toContain(part);
  });
});
