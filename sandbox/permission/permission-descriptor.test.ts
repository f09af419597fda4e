import { expect, test } from "vitest";
import { printPermission } from "./permission.ts";
import { parseDescriptor } from "./permission-descriptor.ts";

const good: [name: string, value: string | null, printed: string | undefined][] = [
  ["read", null, "read"],
  ["read", "/a", "read=/a"],
  ["read", "./a/../b", "read=/base/b"],
  ["write", "/a,b", "write=/a\\,b"],
  ["read", "~/x", "read=/base/~/x"],
  ["read", "/*", "read=/\\*"],
  ["read", "/a\\,/etc", "read=/a\\\\\\,/etc"],
  ["net", "Example.com.:443", "net=example.com:443"],
  ["net", "[::1]:80", "net=[::1]:80"],
  ["net", "10.0.0.0/8", "net=10.0.0.0/8"],
  ["env", "HOME", "env=HOME"],
  ["run", "git", "run=git"],
  ["run", "./git", "run=/base/git"],
  ["sys", "hostname", "sys=hostname"],
  ["tool", "mcp_*", "tool=mcp_*"],
  ["memory", "read:notes", "memory=read:notes"],
  ["ffi", null, undefined],
  ["import", "example.com", undefined],
  ["sys", "networkInterfaces", undefined],
];

test.each(good)("%s of %j is %s", (name, value, printed) => {
  const parsed = parseDescriptor({ name, value }, "/base");
  expect(parsed.ok).toBe(true);
  expect(parsed.ok && parsed.value && printPermission(parsed.value)).toBe(printed);
});

const bad: [name: string, value: string | null, error: string, message: string][] = [
  ["raed", null, "TypeError", 'The provided value "raed" is not a valid permission name'],
  ["__proto__", null, "TypeError", 'The provided value "__proto__" is not a valid permission name'],
  ["", "x", "TypeError", 'The provided value "" is not a valid permission name'],
  ["read", "", "Error", "Empty path is not allowed"],
  ["write", "/a\0", "TypeError", "a path must not have a NUL in it"],
  ["run", "", "Error", "Empty run query is not allowed"],
  ["net", "", "URIError", "invalid empty host: ''"],
  ["net", "http://a", "URIError", "invalid value 'http://a': URLs are not supported, only domains and IPs"],
  ["net", "*.example.com", "URIError", "invalid host '*.example.com'"],
  ["net", "a b", "URIError", "invalid host 'a b'"],
  ["net", "a,b", "URIError", "invalid host 'a,b'"],
  ["net", "a:70000", "URIError", "invalid host 'a:70000'"],
  ["env", "A=B", "TypeError", "env=A=B: not a name"],
  ["env", "*", "TypeError", "env=*: not a name"],
  ["sys", "passwd", "TypeError", 'unknown system info kind "passwd"'],
  ["tool", "a b", "TypeError", "tool=a b: not a name"],
  ["memory", "all", "TypeError", "memory=all: unknown"],
];

test.each(bad)("%s of %j is a %s", (name, value, error, message) => {
  expect(parseDescriptor({ name, value }, "/base")).toEqual({
    ok: false,
    name: error,
    message: expect.stringContaining(message),
  });
});
