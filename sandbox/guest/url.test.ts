import { afterAll, beforeAll, expect, test } from "vitest";
import { type GuestRoom, openGuestRoom, valuesInNode } from "../fixtures/guest-room.ts";

let room: GuestRoom;
beforeAll(async () => {
  room = await openGuestRoom();
});
afterAll(() => room.close());

const PARTS = "['href','origin','protocol','username','password','host','hostname','port','pathname','search','hash']";

function read(input: string, base?: string): string {
  const args = [input, ...(base === undefined ? [] : [base])].map((text) => JSON.stringify(text)).join(", ");
  return `((u) => ${PARTS}.map((part) => u[part]))(new URL(${args}))`;
}

const HOSTS = [
  "example.com",
  "EXAMPLE.com.",
  "a..b",
  "127.1",
  "0x7f.0.0.1",
  "0177.0.0.01",
  "2130706433",
  "256.1.1.1",
  "1.2.3.4.5",
  "[::1]",
  "[2001:DB8::0:1]",
  "[::ffff:1.2.3.4]",
  "[1:2]",
  "[::1",
  "münchen.de",
  "xn--mnchen-3ya.de",
  "xn--a",
  "ＧＯ.com",
  "ß.example",
  "☃.net",
  "a b.com",
  "a%20b",
  "ex%41mple.com",
  "a<b",
  "a_b.c",
  "user@host",
  "user:pa:ss@host:80",
  "host:",
  "host:0",
  "host:65535",
  "host:65536",
  "host:8a",
  "",
  "1e3",
  "0x",
  "example.com:0443",
];
const SCHEMES = ["http", "https", "ws", "ftp", "file", "foo", "HTTP"];
const RESTS = [
  "",
  "/",
  "/a/b/../c/./d",
  "/%2e%2E/x",
  '/a b"<>`{}|^',
  "?q= \"'<>#",
  "?é=ü&\u{1f600}",
  '#f <>`"',
  "\\a\\b",
  "/C|/x",
  "/a%zz%",
  "/\t\nx",
  "//x//y/../z",
  "/;p=1,2/..;/:@&=+$",
];
const ODD = [
  "",
  " http://a ",
  "http:a",
  "http:/a",
  "http:///a",
  "http:\\\\a\\b",
  "mailto:a@b.c",
  "data:text/plain,hi there#x",
  "javascript:alert(1)",
  "blob:https://a.b/c-d",
  "about:blank",
  "foo:",
  "foo:/",
  "foo://",
  "foo:/..//x",
  "foo:a b?c d#e f",
  "file:///C:/a/../..",
  "file://host/C|/x",
  "file:c:\\x",
  "//x/y",
  "?q",
  "#h",
  "../../x",
  "./a:b",
  "a:b",
  "\u0000http://x",
  "http://\ud800/",
  "http://a/\ud800",
  "http://a?\udfff",
  "http://user@/",
  "http://@/x",
  "http://:@/x",
  "http://a:b@c:29/d",
  "http::@c:29",
  "http://f:00000000000000/c",
  "http://f:fifty-two/c",
  "non-special://f:999999/c",
  "http://1.2.3/",
  "http://0300.168.0.0xF0",
  "http://192.168.0.257",
  "http://４２.１",
  "http://[www.google.com]/",
  "http://%",
  "http://\u200b/",
  "http://foo.0x4.",
  "wss://a/b#c?d",
];
const BASES = ["http://host/a/b/c?q#f", "file:///d/e/f", "foo://h/p/q", "mailto:x@y", "data:,z"];

test("URL reads what Node's URL reads, part by part", async () => {
  const inputs = SCHEMES.flatMap((scheme) => HOSTS.map((host) => `${scheme}://${host}/x?y#z`));
  const rests = SCHEMES.flatMap((scheme) => RESTS.map((rest) => `${scheme}://u@h:81${rest}`));
  const expressions = [...inputs, ...rests, ...ODD].map((input) => read(input));
  expect(expressions.length).toBeGreaterThan(350);
  expect(await room.values(expressions)).toEqual(await valuesInNode(expressions));
});

test("URL resolves against a base as Node's does", async () => {
  const expressions = BASES.flatMap((base) => [...ODD, ...RESTS].map((input) => read(input, base)));
  expect(await room.values(expressions)).toEqual(await valuesInNode(expressions));
});

test("every part of a URL can be set as with Node's", async () => {
  const values = [
    "",
    "x",
    "/a/../b",
    "?a=b",
    "#c",
    "https",
    "foo:",
    "9:1",
    "0",
    "99999",
    "é:ü",
    "a b",
    "[::1]",
    "..",
    "@",
  ];
  const starts = ["http://u:p@h:81/a/b?c=d#e", "file:///x", "foo://h/x", "mailto:a@b"];
  const parts = ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
  const expressions = starts.flatMap((start) =>
    parts.flatMap((part) =>
      values.map(
        (value) =>
          `((u) => { u.${part} = ${JSON.stringify(value)}; return [u.href, u.searchParams.toString(), u.origin]; })(new URL(${JSON.stringify(start)}))`,
      ),
    ),
  );
  expect(await room.values(expressions)).toEqual(await valuesInNode(expressions));
});

test("URLSearchParams does what Node's does", async () => {
  const inits = [
    '""',
    '"?a=1&b=2&a=3"',
    '"a=%zz&b=%C3%A9&c=%ff&=x&y&&+=+"',
    '{ a: 1, "ü ": "é&=" }',
    '[["a", "1"], ["a", "2"]]',
    '[["a"]]',
    "[1]",
    'new Map([["m", "n"]])',
    'new URLSearchParams("x=y")',
    "undefined",
    "null",
    "5",
    '"a=\\ud800"',
  ];
  const uses = [
    "[...p]",
    "p.toString()",
    "p.size",
    "[...p.keys()]",
    "[...p.values()]",
    'p.getAll("a")',
    'p.get("none")',
    '(p.append("a", "z~!*()\'"), p.toString())',
    '(p.delete("a"), p.toString())',
    '(p.delete("a", "1"), p.toString())',
    '(p.set("a", "s"), p.toString())',
    '[p.has("a"), p.has("a", "3")]',
    '(p.append("\\ufb03", ""), p.append("\\u{1f308}", ""), p.sort(), p.toString())',
    "((list) => (p.forEach((value, name) => list.push(name, value)), list))([])",
    '((list) => { for (const [name] of p) { list.push(name); if (list.length < 5) p.append("q", "1"); } return list; })([])',
    "p.append()",
    'p.set("a")',
  ];
  const expressions = inits.flatMap((init) => uses.map((use) => `((p) => ${use})(new URLSearchParams(${init}))`));
  expect(await room.values(expressions)).toEqual(await valuesInNode(expressions));
});

test("a URL and its parameters follow each other", async () => {
  const expressions = [
    '((u) => { u.searchParams.append("b", "ü c"); return u.href; })(new URL("http://a/?x#y"))',
    '((u) => { u.searchParams.delete("x"); return u.href; })(new URL("http://a/?x#y"))',
    '((u) => { const p = u.searchParams; u.search = "?q=1"; return [p.get("q"), p === u.searchParams]; })(new URL("http://a/"))',
    '((u) => { const p = u.searchParams; u.href = "http://b/?r=2"; return [p.get("r"), u.host]; })(new URL("http://a/?q"))',
    '[URL.canParse("x"), URL.canParse("x", "http://a"), URL.parse("x"), URL.parse("x", "http://a").href]',
    'JSON.stringify({ u: new URL("http://a") })',
    "'' + new URL('http://a')",
    "new URL()",
    "URL('http://a')",
    "Object.prototype.toString.call(new URL('http://a'))",
    "[URL.name, URLSearchParams.name, URL.length >= 1]",
  ];
  expect(await room.values(expressions)).toEqual(await valuesInNode(expressions));
});

test("a guest that needs no URL loads none, and only a host name beyond ASCII loads the tables for it", async () => {
  expect((await room.run("console.log(1)")).libraries).toEqual([]);
  expect((await room.run("new URL('http://a.b'); new URL('http://xn--a.b')")).libraries).toEqual(["url"]);
  expect((await room.run("new URL('http://ü.de'); new URL('http://ä.de')")).libraries).toEqual(["url", "idna"]);
});

test("URL can be given another value", async () => {
  expect(await room.printed("globalThis.URL = 5; console.log(URL, typeof URLSearchParams)")).toBe("5 function\n");
});
