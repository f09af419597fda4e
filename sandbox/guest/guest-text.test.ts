import { afterAll, beforeAll, expect, test } from "vitest";
import { type GuestRoom, openGuestRoom, valuesInNode } from "../fixtures/guest-room.ts";

let room: GuestRoom;
beforeAll(async () => {
  room = await openGuestRoom();
});
afterAll(() => room.close());

async function sameAsNode(expressions: readonly string[]): Promise<void> {
  expect(await room.values(expressions)).toEqual(await valuesInNode(expressions));
}

const bytes = (list: readonly number[]) => `new Uint8Array([${list.join(",")}])`;

/** Bytes at which the rules of UTF-8 change. */
const EDGES = [0, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xee, 0xef];
const HIGH = [0xf0, 0xf1, 0xf4, 0xf5, 0xff];
const FEW = [0x41, 0x80, 0x9f, 0xa0, 0xc2, 0xe0, 0xed, 0xf0, 0xf4];

test("UTF-8 is decoded as Node decodes it, for every mix of bytes where its rules change", async () => {
  const all = [...EDGES, ...HIGH];
  const pairs = all.flatMap((one) => all.map((two) => [one, two]));
  const longer = FEW.flatMap((one) =>
    FEW.flatMap((two) =>
      FEW.flatMap((three) => [
        [one, two, three],
        [one, two, three, 0x80],
      ]),
    ),
  );
  const lists = JSON.stringify([...pairs, ...longer]);
  await sameAsNode([
    `${lists}.map((list) => new TextDecoder().decode(new Uint8Array(list)))`,
    `${lists}.map((list) => { try { return new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(list)); } catch (error) { return error.name; } })`,
    `${lists}.map((list) => { const d = new TextDecoder(); return list.map((byte) => d.decode(new Uint8Array([byte]), { stream: true })).join("|") + d.decode(); })`,
  ]);
});

test("long texts come through whole, wherever their pieces are cut", async () => {
  const text = '"aé€😀".repeat(30_000)';
  await sameAsNode([
    `new TextDecoder().decode(new TextEncoder().encode(${text})) === ${text}`,
    ...[0, 1, 2, 3, 5, 7, 9].map(
      (skip) => `new TextDecoder().decode(new TextEncoder().encode(${text}).subarray(${skip})).length`,
    ),
    `new TextDecoder().decode(new Uint8Array(200_000).fill(0x80)).length`,
    `((b) => { b[100_000] = 0xff; return new TextDecoder().decode(b).indexOf("\\ufffd"); })(new TextEncoder().encode(${text}))`,
    `((d, b) => { let out = ""; for (let at = 0; at < b.length; at += 777) out += d.decode(b.subarray(at, at + 777), { stream: true }); return out + d.decode() === ${text}; })(new TextDecoder(), new TextEncoder().encode(${text}))`,
  ]);
});

test("TextDecoder knows its labels, options and byte order marks as Node's does", async () => {
  const labels = [
    "utf-8",
    " UTF8\\n",
    "unicode-1-1-utf-8",
    "utf-16le",
    "UTF-16",
    "utf-16be",
    "latin1",
    "ascii",
    "iso-8859-1",
  ];
  await sameAsNode([
    ...labels.map((label) => `new TextDecoder("${label}").encoding`),
    'new TextDecoder("nonsense")',
    "new TextDecoder(undefined, { fatal: 1, ignoreBOM: true }).fatal",
    ...[{}, { ignoreBOM: true }].flatMap((options) => [
      `new TextDecoder("utf-8", ${JSON.stringify(options)}).decode(${bytes([0xef, 0xbb, 0xbf, 0x41, 0xef, 0xbb, 0xbf])})`,
      `new TextDecoder("utf-16le", ${JSON.stringify(options)}).decode(${bytes([0xff, 0xfe, 0x41, 0])})`,
      `((d) => [d.decode(${bytes([0xef])}, { stream: true }), d.decode(${bytes([0xbb, 0xbf, 0x41])}, { stream: true }), d.decode(${bytes([0xef, 0xbb, 0xbf])}), d.decode(${bytes([0xef, 0xbb, 0xbf, 0x42])})])(new TextDecoder("utf-8", ${JSON.stringify(options)}))`,
    ]),
    'new TextDecoder("latin1").decode(Uint8Array.from({ length: 256 }, (_, at) => at))',
    ...[[0x41], [0x41, 0, 0x42], [0x3d, 0xd8, 0, 0xde], [0x3d, 0xd8], [0, 0xde, 0x41, 0], [0x3d, 0xd8, 0x41]].flatMap(
      (list) => [
        `new TextDecoder("utf-16le").decode(${bytes(list)})`,
        `new TextDecoder("utf-16le", { fatal: true }).decode(${bytes(list)})`,
        `((d) => ${JSON.stringify(list)}.map((byte) => d.decode(new Uint8Array([byte]), { stream: true })).join("|") + d.decode())(new TextDecoder("utf-16le"))`,
      ],
    ),
    "new TextDecoder().decode(new Uint16Array([0x4241, 0x43]).subarray(1))",
    "new TextDecoder().decode(new ArrayBuffer(2))",
    "new TextDecoder().decode('text')",
    "new TextDecoder().decode()",
    "((d) => { try { d.decode(new Uint8Array([0xff])); } catch {} return d.decode(new Uint8Array([0x41])); })(new TextDecoder('utf-8', { fatal: true }))",
  ]);
});

test("TextEncoder writes what Node's writes", async () => {
  const texts = ["", "abc", "é", "€", "😀", "\\ud800", "a\\udc00b", "\\ud83d", "\\ud83d\\ud83d\\ude00", "x".repeat(10)];
  await sameAsNode([
    ...texts.flatMap((text) => [
      `[...new TextEncoder().encode("${text}")]`,
      ...[0, 1, 2, 3, 4, 5].map(
        (room) => `((b) => [new TextEncoder().encodeInto("${text}", b), ...b])(new Uint8Array(${room}))`,
      ),
    ]),
    "[...new TextEncoder().encode()]",
    "[...new TextEncoder().encode(null)]",
    "new TextEncoder().encodeInto('a', [])",
    "new TextEncoder().encoding",
  ]);
});

test("atob and btoa agree with Node's", async () => {
  const texts = ["", "a", "ab", "abc", "abcd", "\\u00ff\\u0000", "é", "€", "\\u0100"];
  const codes = [
    "",
    "YQ==",
    "YQ",
    "YQ=",
    "YWI=",
    "YWJj",
    "Y Q\\n=\\t=",
    "Y",
    "YQ===",
    "====",
    "=",
    "YQ==YQ==",
    "*",
    "YR",
    "-_",
    "ab=c",
    "\\u00a0YQ",
  ];
  await sameAsNode([
    ...texts.map((text) => `btoa("${text}")`),
    ...codes.map((code) => `atob("${code}")`),
    "btoa()",
    "btoa(null)",
    "atob(12)",
    "atob({ toString: () => 'YQ==' })",
    "btoa(atob('/+8='))",
    "(() => { try { atob('*'); } catch (error) { return [error instanceof DOMException, error.code]; } })()",
    `btoa(String.fromCharCode(...Array.from({ length: 256 }, (_, at) => at)).repeat(200)).length`,
    `((s) => atob(btoa(s)) === s)(String.fromCharCode(...Array.from({ length: 256 }, (_, at) => at)).repeat(200))`,
  ]);
});
