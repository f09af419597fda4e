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

test("Headers does what Node's does", async () => {
  const inits = [
    "undefined",
    "{}",
    '{ "X-B": "2", a: " 1\\t", "Content-Type": "t" }',
    '[["b", "1"], ["B", "2"], ["a", "3"]]',
    'new Headers({ q: "1" })',
    '[["set-cookie", "a=1"], ["x", "y"], ["Set-Cookie", "b=2"]]',
    "null",
    "5",
    '"text"',
    '[["a"]]',
    '{ "bad name": "1" }',
    '{ a: "line\\nbreak" }',
    '{ a: "\\u0100" }',
    '{ "": "x" }',
    "{ a: 5, b: null }",
    'new Map([["m", "n"]])',
  ];
  const uses = [
    "[...h]",
    "[...h.keys(), ...h.values()]",
    'h.get("B")',
    'h.get("content-TYPE")',
    "h.getSetCookie()",
    'h.has("a")',
    '(h.append("a", "9"), [...h])',
    '(h.set("B", "8"), [...h])',
    '(h.delete("a"), h.delete("none"), [...h])',
    "((list) => (h.forEach((value, name) => list.push(name, value)), list))([])",
    'h.get("bad name")',
  ];
  await sameAsNode(inits.flatMap((init) => uses.map((use) => `((h) => ${use})(new Headers(${init}))`)));
});

test("Response does what Node's does", async () => {
  await sameAsNode([
    "((r) => [r.status, r.ok, r.statusText, r.type, r.url, r.redirected, r.bodyUsed, r.body])(new Response())",
    ...["200", "299", "300", "599", "199", "600", "'404'", "NaN", "101"].map(
      (status) => `((r) => [r.status, r.ok])(new Response(null, { status: ${status} }))`,
    ),
    "new Response('x', { status: 204 })",
    "new Response('x', { statusText: 'a\\nb' })",
    "new Response('x', { statusText: 'Fine' }).statusText",
    ...[
      "'text'",
      "new Uint8Array([104, 105])",
      "new Uint8Array([104, 105]).buffer",
      "new Blob(['b'], { type: 'A/B' })",
      "new URLSearchParams('a=b c')",
      "5",
      "{}",
      "''",
      "undefined",
    ].flatMap((body) => [
      `new Response(${body}).text()`,
      `new Response(${body}).headers.get("content-type")`,
      `(async (r) => [...new Uint8Array(await r.arrayBuffer())])(new Response(${body}))`,
      `(async (r) => { const blob = await r.blob(); return [blob.size, blob.type]; })(new Response(${body}))`,
    ]),
    "new Response('x', { headers: { 'content-type': 'own' } }).headers.get('content-type')",
    "new Response('{\"a\":[1]}').json()",
    "new Response('nope').json()",
    "new Response('\\ufeffx').text()",
    "(async (r) => { await r.text(); return [r.bodyUsed, await r.text().catch((error) => error.name)]; })(new Response('x'))",
    "(async (r) => { const c = r.clone(); return [await r.text(), await c.text(), c.status]; })(new Response('x', { status: 201 }))",
    "(async (r) => { await r.text(); return r.clone(); })(new Response('x'))",
    "(async (r) => { r.body.getReader(); return r.text(); })(new Response('x'))",
    "(async (r) => { const list = []; for await (const chunk of r.body) list.push(...chunk); return [list, r.bodyUsed]; })(new Response('xy'))",
    "(async (r) => { const reader = r.body.getReader(); return [(await reader.read()).value.length, (await reader.read()).done]; })(new Response('xy'))",
    "((r) => [r.status, r.type, r.headers.get('a')])(Response.error())",
    "(async (r) => [await r.json(), r.status, r.headers.get('content-type')])(Response.json({ a: [1, null] }, { status: 201 }))",
    "Response.json({}, { headers: { 'content-type': 'x/y' } }).headers.get('content-type')",
    "Response.json(undefined)",
    "Response.json(Symbol())",
    "((r) => [r.status, r.headers.get('location')])(Response.redirect('http://a.b/c d', 307))",
    "Response.redirect('http://a.b', 200)",
    "Response.redirect('http://')",
    "Response.redirect('http://a').headers.set('x', 'y')",
    "new Response('x').text.call({})",
  ]);
});

test("Request does what Node's does", async () => {
  await sameAsNode([
    "((r) => [r.url, r.method, r.redirect, [...r.headers], r.body, r.signal.aborted, r.cache, r.credentials])(new Request('http://A.b/../c#d'))",
    ...["get", "post", "patch", "Put", "CONNECT", "trace", "b d", "chicken"].map(
      (method) => `new Request('http://a', { method: '${method}' }).method`,
    ),
    "new Request('http://a', { body: 'x' })",
    "new Request('http://a', { method: 'HEAD', body: 'x' })",
    "new Request('relative')",
    "new Request(new URL('http://a/b')).url",
    "new Request('http://a', { redirect: 'sideways' })",
    "new Request('http://a', { signal: {} })",
    "(async (r) => [r.method, await r.text(), r.headers.get('x')])(new Request(new Request('http://a', { method: 'POST', body: 'b', headers: { x: '1' } })))",
    "(async (r) => [r.method, await r.text(), r.headers.get('x'), r.headers.get('y')])(new Request(new Request('http://a', { method: 'POST', body: 'b', headers: { x: '1' } }), { body: 'c', headers: { y: '2' } }))",
    "(async (r) => { const c = r.clone(); return [await r.text(), await c.text(), c.url, c.headers.get('content-type')]; })(new Request('http://a', { method: 'POST', body: 'b' }))",
    "(async (r) => { await r.text(); return new Request(r); })(new Request('http://a', { method: 'POST', body: 'b' }))",
    "((c) => { const r = new Request('http://a', { signal: c.signal }); c.abort(); return r.signal.aborted; })(new AbortController())",
    "new Request('http://a', { method: 'POST', body: new URLSearchParams('a=b') }).headers.get('content-type')",
  ]);
});

test("forms and blobs do what Node's do", async () => {
  await sameAsNode([
    "new Blob(['a', new Uint8Array([98]), new Blob(['c']), 5], { type: 'TEXT/Plain' }).text()",
    "((b) => [b.size, b.type])(new Blob(['é'], { type: 'a\\u00ff' }))",
    ...["", "1", "1, 3", "-2", "0, -1", "5", "2, 1", "'1'", "0, 2, 'x/Y'"].map(
      (range) => `(async (b) => [await b.text(), b.type])(new Blob(['abcde']).slice(${range}))`,
    ),
    "(async (b) => [...await b.bytes(), (await b.arrayBuffer()).byteLength])(new Blob(['ab']))",
    "new Blob('abc')",
    "((f) => [f.name, f.lastModified, f.type, f.size, f instanceof Blob])(new File(['x'], 'n', { lastModified: 7, type: 'a/b' }))",
    "new File(['x'])",
    "((f) => { f.append('a', 1); f.append('a', '2'); f.append('b', new Blob(['z'])); return [[...f.keys()], f.getAll('a'), f.get('b').name, f.has('c'), f.get('c')]; })(new FormData())",
    "((f) => { f.append('a', 1); f.append('b', 2); f.append('a', 3); f.set('a', 4); return [...f]; })(new FormData())",
    "((f) => { f.append('a', 1); f.delete('a'); return [...f]; })(new FormData())",
    "((f) => f.append('a', 'text', 'name'))(new FormData())",
    "new FormData({})",
    "(async (f) => { f.append('é\"\\n', 'v\\nw'); f.append('f', new File(['\\u0000z'], 'n\"m.txt', { type: 'a/b' })); const back = await new Response(f).formData(); return [[...back.keys()], back.get('é\"\\r\\n'), back.get('f').name, back.get('f').type, await back.get('f').text()]; })(new FormData())",
    "(async () => [...await new Response('a=1&b=%C3%A9+x', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }).formData()])()",
    "new Response('x').formData()",
    "new Response('--x', { headers: { 'content-type': 'multipart/form-data; boundary=x' } }).formData()",
  ]);
});

const ANSWER = {
  url: "http://a.b/end",
  redirected: true,
  status: 203,
  statusText: "Sure",
  headers: [
    ["content-type", "application/json"],
    ["set-cookie", "a"],
    ["set-cookie", "b"],
  ],
  body: Buffer.from('{"n":1}').toString("base64"),
} as const;

test("fetch hands the whole request to the broker, and a response back", async () => {
  const { said } = await room.run(
    `const r = await fetch("http://A.b/x y", { method: "post", body: "é", headers: { q: "1" }, redirect: "manual" });
     console.log(r.url, r.redirected, r.status, r.statusText, r.type, r.ok, [...r.headers], await r.json());
     try { r.headers.set("x", "y"); } catch (error) { console.log(error.name); }`,
    { answers: { fetch: { ok: true, value: ANSWER } } },
  );
  expect(said.filter((word) => word.k === "call")).toEqual([
    {
      k: "call",
      id: 1,
      name: "fetch",
      args: {
        url: "http://a.b/x%20y",
        method: "POST",
        headers: [
          ["content-type", "text/plain;charset=UTF-8"],
          ["q", "1"],
        ],
        body: Buffer.from("é").toString("base64"),
        redirect: "manual",
      },
    },
  ]);
  expect(said.map((word) => (word.k === "log" ? word.text : "")).join("")).toBe(
    `http://a.b/end true 203 Sure basic true [
  [ "content-type", "application/json" ],
  [ "set-cookie", "a" ],
  [ "set-cookie", "b" ]
] { n: 1 }
TypeError
`,
  );
});

test("a fetch that the broker refuses rejects with the named error, whose stack has the line that waits", async () => {
  const printed = await room.printed(
    `async function ask() {
       return await fetch("http://a.b");
     }
     try { await ask(); } catch (error) { console.log(error instanceof Deno.errors.NotCapable, error.stack); }`,
    { answers: { fetch: { ok: false, error: { name: "NotCapable", message: "Requires net access" } } } },
  );
  expect(printed).toBe(
    "true NotCapable: Requires net access\n    at async ask (clawd:guest:2:15)\n    at async eval (clawd:guest:4:12)\n",
  );
});

test("an aborted fetch is given up at the broker, and its late answer is dropped", async () => {
  const { said } = await room.run(
    `const stop = new AbortController();
     const asked = fetch("http://a.b", { signal: stop.signal });
     setTimeout(() => stop.abort(new RangeError("enough")), 1);
     try { await asked; } catch (error) { console.log(error.name, error.message); }
     try { await fetch("http://a.b", { signal: AbortSignal.timeout(1) }); } catch (error) { console.log(error.name); }
     try { await fetch("http://a.b", { signal: AbortSignal.abort() }); } catch (error) { console.log(error.name); }`,
  );
  expect(
    said.map((word) => (word.k === "call" ? [word.id, word.name, word.args] : word.k === "log" ? word.text : word.k)),
  ).toEqual([
    [1, "fetch", expect.anything()],
    [2, "abort", { call: 1 }],
    "RangeError enough\n",
    [3, "fetch", expect.anything()],
    [4, "abort", { call: 3 }],
    "TimeoutError\n",
    "AbortError\n",
    "loaded",
  ]);
});

test("data URLs are read without anybody's leave, as Node reads them", async () => {
  const urls = [
    "data:,hi%20there",
    "data:text/html;charset=utf-8,%C3%A9",
    "data:;base64,aGk=",
    "data:image/png;base64,aG%6B",
    "data:;charset=x,y",
    "data:text/plain,a#b",
    "data:text/plain;base64,*",
    "data:nothing",
  ];
  await sameAsNode(
    urls.map(
      (url) => `(async (r) => [r.status, r.headers.get("content-type"), await r.text()])(await fetch("${url}"))`,
    ),
  );
});

test("at most 64 calls are under way at once", async () => {
  const { said } = await room.run(
    `const all = Array.from({ length: 66 }, () => fetch("http://a.b"));
     const ends = await Promise.all(all.slice(64).map((one) => one.catch((error) => error.name)));
     console.log(ends.join());`,
  );
  expect(said.filter((word) => word.k === "call")).toHaveLength(64);
  expect(said.find((word) => word.k === "log")).toMatchObject({ text: "RangeError,RangeError\n" });
});
