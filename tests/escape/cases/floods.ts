import type { EscapeCase } from "../escape-case.ts";

export const FLOODS: readonly EscapeCase[] = [
  {
    name: "sends more messages than one event may",
    body: `for (let at = 0; at < 1e5; at++) clawd.store.get("x").catch(() => {});`,
    sees: /messages|200 ms|never comes|no answer/,
  },
  {
    name: "prints for ever",
    body: `for (;;) console.log("x".repeat(1000));`,
    sees: /messages|200 ms|no answer|process/,
    also: ({ printed }) => (printed.length > 1100 ? `${printed.length} lines were printed` : undefined),
  },
  {
    name: "prints one line of millions of characters",
    body: `console.log("y".repeat(5e6)); return { answer: "done" };`,
  },
  {
    name: "sets more timers than it may, and clears none",
    body: `const texts = []; for (let at = 0; at < 200; at++) texts.push(await tell(() => setInterval(() => {}, 1))); return { answer: texts.at(-1) };`,
    sees: /RangeError/,
  },
  {
    name: "opens calls as fast as they end",
    grant: "read={{HERE}}",
    body: `for (;;) await Promise.all(Array.from({ length: 60 }, () => Deno.readTextFile("{{HERE}}/notes.txt")));`,
    sees: /messages|running time|200 ms|no answer/,
  },
  {
    name: "reads four megabytes many times at once",
    grant: "read={{HERE}} write={{HERE}}",
    body: `await Deno.writeTextFile("{{HERE}}/large", "z".repeat(3.9e6));
      const got = await Promise.allSettled(Array.from({ length: 40 }, () => Deno.readTextFile("{{HERE}}/large")));
      return { answer: got.length };`,
  },
  {
    name: "writes four megabytes many times at once",
    grant: "read={{HERE}} write={{HERE}}",
    body: `const text = "w".repeat(2e6); const got = await Promise.allSettled(Array.from({ length: 40 }, (_, at) => Deno.writeTextFile("{{HERE}}/many" + at % 4, text))); return { answer: got.length };`,
  },
  {
    name: "lists and walks without end",
    grant: "read={{HERE}}",
    body: `let seen = 0; for (;;) for await (const entry of Deno.readDir("{{HERE}}")) seen++;`,
    sees: /messages|running time|200 ms|no answer/,
  },
  {
    name: "stores more than its store holds",
    body: `const texts = []; for (let at = 0; at < 120; at++) texts.push(await tell(() => clawd.store.set("k" + at, "v".repeat(60000)))); texts.push(await tell(() => clawd.store.set("big", "v".repeat(70000))), await tell(() => clawd.store.set("x".repeat(257), 1)));
      for (const key of await clawd.store.list()) await clawd.store.delete(key).catch(() => {});
      return { answer: texts.filter((text) => text.startsWith("RangeError") || text.startsWith("TypeError")).length > 20 };`,
    sees: /"result":true|running time|no answer/,
  },
  {
    name: "asks for permissions all the time",
    body: `for (let at = 0; at < 3000; at++) await Deno.permissions.query({ name: "read", path: "/x" + at }); return { answer: "through" };`,
    sees: /messages|running time|no answer/,
  },
  {
    name: "is refused hundreds of times",
    body: `for (let at = 0; at < 900; at += 30) await Promise.all(Array.from({ length: 30 }, (_, more) => Deno.readTextFile("/x" + at + more).catch(() => {}))); return { answer: "through" };`,
    also: ({ conversation: { decisions } }) => {
      const counted = decisions.reduce((sum, { leftOut }) => sum + leftOut + 1, 0);
      return decisions.length > 600 ? `${decisions.length} records, ${counted} decisions` : undefined;
    },
  },
  {
    name: "digests and draws without end",
    body: `const data = new Uint8Array(1e6); for (;;) { crypto.getRandomValues(new Uint8Array(65536)); await Promise.all(Array.from({ length: 10 }, () => crypto.subtle.digest("SHA-512", data))); }`,
    sees: /running time|200 ms|no answer|MiB/,
  },
  {
    name: "gives up more than it begins",
    body: `for (let at = 0; at < 400; at++) { const stop = new AbortController(); Deno.readTextFile("x", { signal: stop.signal }).catch(() => {}); stop.abort(); } await null; return { answer: "through" };`,
  },
  {
    name: "rejects a thousand promises that nobody catches",
    body: `for (let at = 0; at < 1000; at++) Promise.reject(new Error("r" + at)); await new Promise((done) => setTimeout(done, 20)); return { answer: "through" };`,
  },
  {
    name: "wakes itself every millisecond after its answer",
    body: `const again = () => { setTimeout(() => { for (let turn = 0, from = Date.now(); Date.now() - from < 150; turn++); again(); }, 1); }; again(); return { answer: "left behind" };`,
    sees: /left behind/,
  },
];
