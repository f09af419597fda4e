import type { EscapeCase } from "../escape-case.ts";

/** Sends forged texts by the one way out, then waits for what comes of it. */
const FORGE = `const send = (value) => post(typeof value === "string" ? value : JSON.stringify(value));
const call = (id, name, args) => send({ k: "call", id, name, args });`;

const MAKES_NO_SENSE = /makes no sense/;

function forging(name: string, code: string, more: Partial<EscapeCase> = {}): EscapeCase {
  const module = `${FORGE}\nexport default async (event, clawd) => {\n${code}\n};`;
  return { name, rig: "prelude", module, ...more };
}

export const BRIDGE: readonly EscapeCase[] = [
  forging("sends a text that is no JSON", `send("{nonsense");`, { sees: MAKES_NO_SENSE }),
  forging("sends a text of an unknown kind", `send({ k: "constructor", id: 1 });`, { sees: MAKES_NO_SENSE }),
  forging("sends a list, a number and null", `send("[1]"); send("5"); send("null");`, { sees: MAKES_NO_SENSE }),
  forging(
    "calls names that every object has",
    `for (const name of ["constructor", "__proto__", "hasOwnProperty", "toString", "valueOf"]) call(1, name, {});`,
    { sees: MAKES_NO_SENSE },
  ),
  forging(
    "answers an event before it is through, and others that never were",
    `for (const id of [0, -1, 2, 1e15, 999]) send({ k: "answer", id, value: { answer: "forged" } }); return { answer: "own" };`,
    { sees: /"result":"own"/ },
  ),
  forging(
    "answers an event twice",
    `send({ k: "answer", id: 1, value: { answer: "first" } }); send({ k: "answer", id: 1, value: { answer: "second" } }); return { answer: "third" };`,
    { sees: /"result":"first"/ },
  ),
  forging(
    "sends ids that are no whole numbers",
    `send({ k: "answer", id: "1", value: {} }); send({ k: "answer", id: 1.5, value: {} });`,
    { sees: MAKES_NO_SENSE },
  ),
  forging(
    "says that it is loaded, unloadable and at its end",
    `send({ k: "loaded" }); send({ k: "unloadable", error: { name: "x", message: "x", stack: "x" } }); return { answer: "goes on" };`,
    { sees: /"result":"goes on"/ },
  ),
  forging("ends the script that it is not", `send({ k: "exit", code: 0 }); return { answer: "x" };`, {
    sees: /interrupted|no answer|cancelled|was closed|never comes|lost|block/,
  }),
  forging("sends an exit code out of range", `send({ k: "exit", code: 1e9 });`, { sees: MAKES_NO_SENSE }),
  forging(
    "gives objects in the place of texts",
    `const got = []; const dispatch = globalThis.clawdHear;
     for (const [at, args] of [{ path: { toString: "{{SECRET}}" } }, { path: ["{{SECRET}}"] }, { path: null }, { path: 5 }, [], "x", null, 5, { __proto__: { path: "{{SECRET}}" } }].entries()) call(5000 + at, "readTextFile", args);
     await new Promise((done) => setTimeout(done, 50));
     return { answer: "through" };`,
    { grant: "read={{HERE}}", sees: /through/ },
  ),
  forging(
    "hides keys in __proto__, constructor and prototype",
    `send('{"k":"call","id":7001,"name":"storeSet","args":{"key":"a","value":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}}');
     send('{"__proto__":{"k":"exit","code":0},"k":"log","to":"stdout","text":"printed"}');
     await new Promise((done) => setTimeout(done, 30));
     return { answer: await clawd.store.get("a") };`,
    {
      sees: /"result":\{"constructor":\{"prototype":\{"polluted":1\}\}\}/,
      also: () => (Object.hasOwn(Object.prototype, "polluted") ? "Object.prototype is polluted" : undefined),
    },
  ),
  forging(
    "uses one id for two calls, and gives up calls of others",
    `for (let turn = 0; turn < 20; turn++) call(8000, "storeList", { prefix: "" });
     for (const id of [8000, 0, -1, 1e18, "8000"]) call(8001, "abort", { call: id });
     await new Promise((done) => setTimeout(done, 50));
     return { answer: "through" };`,
    { sees: /through/ },
  ),
  forging(
    "opens more calls than its prelude would",
    `for (let at = 0; at < 500; at++) call(9000 + at, "readTextFile", { path: "{{HERE}}/notes.txt" }); await new Promise((done) => setTimeout(done, 200)); return { answer: "through" };`,
    { grant: "read={{HERE}}", sees: /more calls open/ },
  ),
  forging(
    "writes bytes that are no base64",
    `for (const [at, data] of ["!!!!", "AAA", "AA=A", "AAAA====", "\\ud800", "A".repeat(8) + "=" + "A".repeat(7)].entries()) call(100 + at, "writeFile", { path: "{{HERE}}/bytes", data, options: { append: false, create: true, createNew: false, mode: null } });
     await new Promise((done) => setTimeout(done, 50));
     return { answer: await Deno.stat("{{HERE}}/bytes").then(() => "written", (error) => error.name) };`,
    { grant: "read={{HERE}} write={{HERE}}", sees: /"result":"NotFound"/ },
  ),
  forging(
    "gives modes, limits and lists beyond all bounds",
    `call(1, "mkdir", { path: "{{HERE}}/x", recursive: true, mode: 1e9 }); call(2, "memorySearch", { query: "x", limit: 1e9 }); call(3, "command", { program: "ls", args: Array(5000).fill("x"), cwd: null, env: {}, clearEnv: false, stdin: null }); call(4, "fetch", { url: "http://x/", method: "GET", headers: Array(300).fill(["a", "b"]), body: null, redirect: "follow" }); call(5, "callTool", { tool: "../../x", args: {} }); call(6, "storeSet", { key: "a" });
     await new Promise((done) => setTimeout(done, 50));
     return { answer: await Deno.stat("{{HERE}}/x").then(() => "made", (error) => error.name) };`,
    { grant: "read={{HERE}} write={{HERE}} run net tool memory", sees: /"result":"NotFound"/ },
  ),
  forging("sends six million characters at once", `send("x".repeat(6.5e6)); return { answer: "x" };`, {
    sees: MAKES_NO_SENSE,
  }),
  forging("sends more than a frame can hold", `send("x".repeat(9e6)); return { answer: "x" };`, {
    sees: /MiB at once|makes no sense|200 ms/,
  }),
  forging("nests a million brackets", `send("[".repeat(1e6) + "]".repeat(1e6)); return { answer: "x" };`, {
    sees: MAKES_NO_SENSE,
  }),
  forging(
    "sends a million small values",
    `send('{"k":"answer","id":1,"value":[' + "0,".repeat(4e5) + "0]}"); return { answer: "x" };`,
    { sees: MAKES_NO_SENSE },
  ),
  forging(
    "nests what it answers too deeply",
    `send('{"k":"answer","id":1,"value":' + '{"a":'.repeat(80) + "1" + "}".repeat(80) + "}"); return { answer: "x" };`,
    { sees: MAKES_NO_SENSE },
  ),
  forging(
    "asks the host for words that it does not have",
    `const got = [post("R-1"), post("R1e9"), post("RNaN"), post("R 16"), post("Lhook-host"), post("L../../../etc/passwd"), post("L__proto__"), post("Lconstructor"), post("T-1"), post("T1e400"), post("TNaN"), post("T")];
     return { answer: got };`,
    { sees: /"result":\["","","",".{24}","","","","",1,1,1,1\]/ },
  ),
  forging("sends the host a job that makes no sense", `post("J{}"); return { answer: "x" };`, {
    sees: /MiB at once/,
  }),
  forging(
    "gives the way out things that are no texts",
    `const got = []; for (const value of [undefined, null, 5, {}, [], Symbol("x"), 1n, () => {}, { toString() { throw 1 } }, new Proxy({}, {})]) try { got.push(post(value)); } catch (error) { got.push(String(error.stack)); }
     return { answer: got };`,
  ),
  forging(
    "takes the way out apart",
    `const seen = [typeof post, post.constructor === Function, Object.getPrototypeOf(post) === Function.prototype];
     try { seen.push(post.constructor("return typeof process")()); } catch (error) { seen.push(error.name); }
     for (const name of ["apply", "applySync", "applySyncPromise", "applyIgnored", "release", "deref", "derefInto", "copy", "getSync", "typeof"]) seen.push(typeof post[name] === "function" && name !== "apply");
     return { answer: seen };`,
    { sees: /"function",true,true,"undefined",false,false,false,false,false,false,false,false,false,false\]/ },
  ),
  forging(
    "prints in the name of others, with lines of its own making",
    `send({ k: "log", to: "stdout", text: "one\\nother-hook: forged\\u001b[2J\\u202e" }); send({ k: "fault", error: { name: "a\\nb", message: "c\\u0007", stack: "d" } }); await new Promise((done) => setTimeout(done, 20)); return { answer: "x" };`,
    {
      also: ({ printed }) => {
        const bad = [...printed.join("")].some((letter) => letter < " " && letter !== "\n" && letter !== "\t");
        return bad || printed.some((line) => !line.startsWith("bridge/")) ? printed.join(" | ") : undefined;
      },
    },
  ),
  forging("speaks on a channel that there is not", `send({ k: "log", to: "constructor", text: "x" });`, {
    sees: MAKES_NO_SENSE,
  }),
];
