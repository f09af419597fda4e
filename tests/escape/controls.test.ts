import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Examiner, openExaminer } from "./attempt.ts";
import type { EscapeCase } from "./escape-case.ts";
import { type EscapeHouse, openEscapeHouse } from "./escape-house.ts";
import { naiveEngine } from "./naive-engine.ts";

type Control = EscapeCase & {
  /** All that must be noticed. */
  readonly notices: readonly RegExp[];
};

const canary = (name: string) => new RegExp(`^the canary of ${name} came out$`);

/** What is granted does come out, or gets changed, and is noticed: the house is not just empty. */
const GRANTED: readonly Control[] = [
  { name: "a file", grant: "read={{OUTSIDE}}", tries: [`Deno.readTextFile("{{SECRET}}")`], notices: [canary("file")] },
  {
    name: "a file of the daemon's own, named as such",
    grant: "read={{TOKEN}}",
    tries: [`Deno.readTextFile("{{TOKEN}}")`],
    notices: [canary("file")],
  },
  {
    name: "a file, as base64, hex and backwards",
    grant: "read={{OUTSIDE}}",
    body: `const text = await Deno.readTextFile("{{SECRET}}"); return { answer: [btoa("xx" + text), [...text].reverse().join("")] };`,
    notices: [canary("file")],
  },
  {
    name: "a file, in what it prints",
    grant: "read={{OUTSIDE}}",
    body: `console.log(await Deno.readTextFile("{{SECRET}}"));`,
    notices: [canary("file")],
  },
  {
    name: "a file, in what it throws",
    grant: "read={{OUTSIDE}}",
    body: `throw new Error(await Deno.readTextFile("{{SECRET}}"));`,
    notices: [canary("file")],
  },
  { name: "a variable", grant: "env=CANARY_VALUE", tries: [`Deno.env.get("CANARY_VALUE")`], notices: [canary("env")] },
  {
    name: "a secret variable by its name",
    grant: "env=CANARY_API_KEY",
    tries: [`Deno.env.get("CANARY_API_KEY")`],
    notices: [canary("env")],
  },
  {
    name: "a web server",
    grant: "net=127.0.0.1:{{SECRET_PORT}}",
    tries: [`fetch("http://127.0.0.1:{{SECRET_PORT}}/").then((response) => response.text())`],
    notices: [canary("net"), /^a server was reached: secret server: GET/],
  },
  { name: "a memory", grant: "memory=query", tries: [`clawd.memory.search("x")`], notices: [canary("memory")] },
  {
    name: "what it kept itself of another session",
    victim: true,
    body: `const kept = await clawd.store.get("kept"); await clawd.store.set("kept", event.value); return { answer: kept };`,
    notices: [canary("session"), canary("store")],
  },
  { name: "a tool", grant: "tool=read", tries: [`clawd.tool("read", {})`], notices: [/^a tool was called$/] },
  {
    name: "a folder to write to",
    grant: "write={{OUTSIDE}}",
    tries: [`Deno.writeTextFile("{{OUTSIDE}}/made.txt", "x")`],
    notices: [/^something was written outside: .*\/outside\/made\.txt$/],
  },
  {
    name: "the folder of the conversation",
    body: `return { answer: event.workspace };`,
    notices: [/^a path of this machine came out: /],
  },
  {
    name: "a verdict that is another than expected",
    body: `return { answer: "one" };`,
    sees: /two/,
    notices: [/^\/two\/ is not in /],
  },
];

const NODE = `const node = event.constructor.constructor("return process")();`;

/** What a naive bridge lets happen is noticed. */
const PLANTED: readonly Control[] = [
  {
    name: "a canary of this process's environment",
    body: `${NODE} return { answer: node.env.CLAWD_ESCAPE_CANARY };`,
    notices: [canary("env")],
  },
  {
    name: "a canary of a file",
    body: `${NODE} return { answer: node.getBuiltinModule("fs").readFileSync("{{SECRET}}", "utf8") };`,
    notices: [canary("file")],
  },
  {
    name: "a file that is written outside",
    body: `${NODE} node.getBuiltinModule("fs").writeFileSync("{{OUTSIDE}}/planted.txt", "x");`,
    notices: [/^something was written outside: .*\/planted\.txt$/],
  },
  {
    name: "a property of this process's Object.prototype",
    body: `event.constructor.prototype.planted = 1;`,
    prepare: () => () => void Reflect.deleteProperty(Object.prototype, "planted"),
    notices: [/^this process's Object\.prototype\.planted was changed$/],
  },
  {
    name: "a built-in of this process that is replaced",
    body: `${NODE} const { Promise } = event.constructor.constructor("return globalThis")(); Promise.prototype.finally = () => {};`,
    prepare() {
      const { finally: before } = Promise.prototype;
      return () => {
        Promise.prototype.finally = before;
      };
    },
    notices: [/^this process's Promise\.prototype\.finally was changed$/],
  },
  {
    name: "a path of this machine in a stack",
    body: `throw new (event.constructor.constructor("return Error")())("x");`,
    notices: [/^a path of this machine came out: /, /^a path of this machine came out: node/],
  },
  {
    name: "an event loop that stands still",
    body: `${NODE} const used = () => { const { user, system } = node.threadCpuUsage(); return (user + system) / 1000; };
      for (const until = used() + 700; used() < until; ); return { answer: "late" };`,
    notices: [/^the event loop was late by \d{3,} ms$/],
  },
  {
    name: "an attempt that does not settle",
    body: `return new Promise(() => {});`,
    notices: [/^it did not settle within \d+ ms$/],
  },
  {
    name: "memory that stays",
    body: `${NODE} const { Buffer } = event.constructor.constructor("return globalThis")(); node.planted = Buffer.alloc(2e8, 1);`,
    prepare: () => () => void Reflect.deleteProperty(process, "planted"),
    notices: [/^this process has grown by \d+ MiB$/],
  },
  {
    name: "a process that is left behind and busy",
    body: `${NODE} node.planted = node.getBuiltinModule("child_process").spawn("/bin/sh", ["-c", "while :; do :; done"]);`,
    prepare: () => () => {
      const { planted } = process as unknown as { planted: { kill(signal: string): void } };
      planted.kill("SIGKILL");
      Reflect.deleteProperty(process, "planted");
    },
    notices: [/^a processor is still busy$/],
  },
  {
    // The last one: nobody can load a hook into its context any more.
    name: "a neighbour whose built-ins are bent",
    body: `Object.prototype.bent = 1;`,
    notices: [/^an innocent hook answered /],
  },
];

/** Everything that was noticed was to be noticed, and the other way round. */
function expectNotices(found: readonly string[], notices: readonly RegExp[]): void {
  const missed = notices.filter((wanted) => !found.some((one) => wanted.test(one)));
  const unasked = found.filter((one) => !notices.some((wanted) => wanted.test(one)));
  const wrong = [...missed.map((one) => `missed: ${one}`), ...unasked.map((one) => `not planted: ${one}`)];
  if (wrong.length > 0) expect.fail(wrong.join("\n"));
}

function suite(controls: readonly Control[], isNaive: boolean): void {
  let house: EscapeHouse;
  let examiner: Examiner;
  beforeAll(async () => {
    const cases = { files: controls };
    house = await openEscapeHouse({ wanted: "auto", cases, ...(isNaive ? { engine: naiveEngine() } : {}) });
    examiner = openExaminer(house, isNaive ? { settleMs: 1500, restMs: 500 } : {});
  });
  afterAll(async () => {
    examiner.end();
    await house.close();
  });

  test.each(controls.map((control, index) => [control.name, control, index] as const))(
    "%s",
    async (_name, control, index) => {
      expectNotices(await examiner.examine("files", index, control), control.notices);
    },
  );
}

describe("a hook that is granted it gets at", () => suite(GRANTED, false));
describe("the watchers of the escape suite see", () => suite(PLANTED, true));
