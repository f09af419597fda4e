import { readdirSync, readFileSync } from "node:fs";
import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { NO_HOOKS } from "../../core/domain/hook.ts";
import { conversation, openSandboxRoom, type SandboxRoom, toolBefore } from "../fixtures/sandbox-room.ts";

const EVENT = { tool: "shell", args: { command: "ls" } };

/** Processes of this machine that run the hook host of a room. */
function hostsOf(room: SandboxRoom): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const [program, ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return program === room.files.nodeBinary && args.includes(room.files.hostFile);
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function clear(room: SandboxRoom): Promise<void> {
  await Promise.all(readdirSync(room.hooksDir).map((name) => rm(join(room.hooksDir, name), { recursive: true })));
}

function body(header: string, code: string): string {
  return `/** @hook at=tool.before ${header} */\n${code}`;
}

describe.each(["auto", "none"] as const)("hook scripts with a launcher of level %s", (wanted) => {
  let room: SandboxRoom;

  beforeAll(async () => {
    room = await openSandboxRoom({ wanted, env: { CITY: "Oslo", API_TOKEN: "secret", APP_NAME: "x" } });
    if (wanted === "auto" && room.launcher.level === "none")
      console.info(`no bubblewrap here: ${room.launcher.detail}`);
  });
  afterEach(async () => {
    room.printed.length = 0;
    await clear(room);
  });
  afterAll(async () => {
    await room.close();
    // They have been killed; the kernel may need a moment more.
    await vi.waitFor(() => expect(hostsOf(room)).toEqual([]), { timeout: 10_000 });
  });

  const fire = (sessionId?: string) => room.hooks.hooks.run(toolBefore(EVENT, sessionId), conversation());
  const hook = (name: string, code: string, header = "") => room.write(`hooks/${name}.ts`, body(header, code));

  // These two come before any hook has run: afterwards a spare process may be on its way at any moment.
  test("without a hook for the point nothing is started", async () => {
    await room.write("hooks/after.ts", "/** @hook at=tool.after */ export default () => ({ block: 'x' })");
    expect(await fire()).toBe(NO_HOOKS);
    expect(hostsOf(room)).toEqual([]);
  });

  test("it is known who listens without starting anything", async () => {
    await room.write("hooks/after.ts", "/** @hook at=PostToolUse */ export default () => {}");
    expect(await room.hooks.hooks.hears("tool.after")).toBe(true);
    expect(await room.hooks.hooks.hears("tool.before")).toBe(false);
    expect(hostsOf(room)).toEqual([]);
  });

  test("a hook passes, modifies, blocks, answers or skips", async () => {
    await hook(
      "all",
      `export default async (event: { value: { args: { command: string } } }) => {
        switch (event.value.args.command) {
          case "pass": return { pass: true };
          case "modify": return { modify: { ...event.value, args: { command: "true" } } };
          case "block": return { block: "not today" };
          case "answer": return { answer: { n: [1, null] } };
          case "skip": return { skip: true };
        }
      }`,
    );
    const answers = [];
    for (const command of ["nothing", "pass", "modify", "block", "answer", "skip"]) {
      const outcome = await room.hooks.hooks.run(toolBefore({ tool: "shell", args: { command } }), conversation());
      answers.push(outcome.answer);
    }
    expect(answers).toEqual([
      { do: "pass" },
      { do: "pass" },
      { do: "modify", value: { tool: "shell", args: { command: "true" } } },
      { do: "block", because: "not today" },
      { do: "answer", result: { n: [1, null] } },
      { do: "skip" },
    ]);
  });

  test("a hook may import node:fs: what gives promises works under its grant, what stands still says that it cannot", async () => {
    await room.write("hooks/words.txt", "words");
    await hook(
      "reads",
      `import fs from "node:fs";
       const said = (work) => { try { return work(); } catch (error) { return error.message; } };
       export default async () => ({ block: [
         await fs.promises.readFile("./words.txt", "utf8"),
         await fs.promises.readFile("./other.txt", "utf8").catch((error) => error.name),
         said(() => fs.readFileSync("./words.txt")),
         said(() => fs.existsSync("./words.txt")),
       ].join(" | ") });`,
      "\n * @allow read=./words.txt",
    );
    const refusal = "a synchronous call in a hook is not offered: use the function that gives a promise";
    expect(JSON.stringify(await fire())).toContain(`words | NotCapable | ${refusal} | ${refusal}`);
  });

  test("hooks run by priority, feed each other, and those after a decision are only considered", async () => {
    await hook("b-first", "export default (e) => ({ modify: { ...e.value, tool: e.value.tool + '1' } })", "priority=1");
    await hook(
      "a-second",
      "export default (e) => ({ modify: { ...e.value, tool: e.value.tool + '2' } })",
      "priority=2",
    );
    await hook("c-third", "export default (e) => ({ block: e.value.tool })", "priority=3");
    await hook("d-fourth", "export default () => { throw 1 }", "priority=4");
    const { answer, receipts } = await fire();
    expect(answer).toEqual({ do: "block", because: "shell12" });
    expect(receipts.map(({ hook: name, verdict, ran }) => [name, verdict, ran])).toEqual([
      ["b-first", "modify", true],
      ["a-second", "modify", true],
      ["c-third", "block", true],
      ["d-fourth", "pass", false],
    ]);
  });

  test.each([
    ["deny", { do: "block" }],
    ["allow", { do: "pass" }],
    ["ask", { do: "ask" }],
  ])("a hook that throws answers by on-error=%s, with the place in its own file", async (onError, answer) => {
    await hook("thrower", "\nexport default () => {\n  throw new Error('boom');\n};", `on-error=${onError}`);
    const outcome = await fire();
    expect(outcome.answer).toMatchObject(answer);
    expect(outcome.receipts[0]?.because).toContain('hook "thrower" Error: boom (thrower.ts:4:9)');
  });

  test("a hook whose time is up while it is wedged does not hold back the next", async () => {
    await hook(
      "wedge",
      "export default () => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
      "timeout=250ms",
    );
    expect((await fire()).answer.do).toBe("block");
    await hook("wedge", "export default () => ({ pass: true })");
    expect((await fire()).answer).toEqual({ do: "pass" });
  });

  test("what a hook remembers is seen by no other hook and no other session", async () => {
    const code =
      "globalThis.count ??= 0; export default () => { globalThis.count += 1; console.log(globalThis.count); }";
    await hook("one", code);
    await hook("two", code);
    for (const session of ["s1", "s1", "s2"]) await fire(session);
    expect(room.printed).toEqual(["one: 1", "two: 1", "one: 2", "two: 2", "one: 1", "two: 1"]);
  });

  test("kill -9 of the host in the middle of an event gives the on-error verdict, and the next event works", async () => {
    await hook(
      "slow",
      "console.log('up'); export default (e) => e.value.tool === 'shell' ? new Promise((r) => setTimeout(r, 30_000)) : undefined",
    );
    const running = fire();
    await expect.poll(() => room.printed, { timeout: 10_000 }).toContain("slow: up");
    for (const pid of hostsOf(room)) process.kill(pid, "SIGKILL");
    expect((await running).answer).toMatchObject({ do: "block", because: expect.stringContaining("lost its process") });
    // The spare process was killed, too: whether that is known already is a matter of luck.
    const next = () => room.hooks.hooks.run(toolBefore({ tool: "read", args: {} }), conversation());
    await expect.poll(async () => (await next()).answer, { timeout: 10_000 }).toEqual({ do: "pass" });
  });

  test("many sessions at once are all answered", async () => {
    await hook("echo", "export default async (e) => { await null; return { answer: e.sessionId }; }");
    const events = Array.from({ length: 40 }, (_, index) => fire(`s${index % 20}`));
    const answers = (await Promise.all(events)).map(({ answer }) => answer);
    expect(answers).toEqual(events.map((_, index) => ({ do: "answer", result: `s${index % 20}` })));
  });

  test("an aborted run ends at once", async () => {
    await hook(
      "slow",
      "console.log('up'); export default () => new Promise((r) => setTimeout(r, 30_000))",
      "on-error=allow",
    );
    const interrupt = new AbortController();
    const running = room.hooks.hooks.run(toolBefore(EVENT), conversation(interrupt.signal));
    await expect.poll(() => room.printed, { timeout: 10_000 }).toContain("slow: up");
    interrupt.abort();
    expect((await running).receipts[0]).toMatchObject({ verdict: "pass", because: 'hook "slow" was interrupted' });
  });

  test("a saved change of a hook or of what it imports holds for the next event", async () => {
    await room.write("hooks/lib/word.ts", "export const word: string = 'one'");
    await hook("reload", "import { word } from './lib/word.ts'; export default () => ({ answer: word })");
    expect((await fire()).answer).toEqual({ do: "answer", result: "one" });
    await room.write("hooks/lib/word.ts", "export const word: string = 'two'");
    expect((await fire()).answer).toEqual({ do: "answer", result: "two" });
    await rm(join(room.hooksDir, "reload.ts"));
    expect(await fire()).toBe(NO_HOOKS);
  });

  test("a file is read only where it is granted, by its name and by where it really lies", async () => {
    await room.write("hooks/rules/a.txt", "granted");
    await room.write("hooks/rules/deny.txt", "denied");
    await room.write("secret.txt", "secret");
    await symlink(join(room.folder, "secret.txt"), join(room.hooksDir, "rules/out.txt"));
    const code = `/** @hook at=tool.before
 * @allow read=./rules
 * @deny read=./rules/deny.txt
 */
export default async () => {
  const answer = [];
  for (const path of ["./rules/a.txt", "./rules/../rules/a.txt", "./rules/deny.txt", "./rules/out.txt", "../secret.txt", "/etc/passwd", "./rules", "./rules/none", "/proc/self/environ"]) {
    answer.push(await Deno.readTextFile(path).catch((error) => error.name));
  }
  return { answer };
}`;
    await room.write("hooks/reader.ts", code);
    const denied = "NotCapable";
    expect((await fire()).answer).toEqual({
      do: "answer",
      result: ["granted", "granted", denied, denied, denied, denied, "IsADirectory", "NotFound", denied],
    });
  });

  test("a denial names what would allow it", async () => {
    await hook("reader", "export default async () => { await Deno.readTextFile('/etc/hosts') }");
    const { receipts } = await fire();
    expect(receipts[0]?.because).toContain("NotCapable");
    expect(receipts[0]?.because).toContain('add "@allow read=/etc/hosts"');
  });

  test("a variable is known only where it is granted, and a pattern opens no secrets", async () => {
    const code = `/** @hook at=tool.before
 * @allow env=CITY,A*
 */
export default () => ({ answer: ["CITY", "APP_NAME", "API_TOKEN", "HOME", "AXE"].map((name) => {
  try { return Deno.env.get(name) ?? "unset" } catch (error) { return error.name }
}) })`;
    await room.write("hooks/env.ts", code);
    expect((await fire()).answer).toEqual({ do: "answer", result: ["Oslo", "x", "NotCapable", "NotCapable", "unset"] });
  });

  test("the web surface works", async () => {
    const code = `export default async () => {
      const order = [];
      const timer = setTimeout(() => order.push("never"), 5);
      clearTimeout(timer);
      setTimeout(() => order.push("b"), 20);
      setTimeout((word) => order.push(word), 5, "a");
      queueMicrotask(() => order.push("micro"));
      await new Promise((resolve) => setTimeout(resolve, 40));
      const text = "žluťoučký 🐎 \u0800";
      const bytes = new TextEncoder().encode(text);
      const streaming = new TextDecoder();
      const pieces = [...bytes].map((byte) => streaming.decode(new Uint8Array([byte]), { stream: true })).join("") + streaming.decode();
      const broken = new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xe2, 0x82, 0x62, 0xff]));
      const cyclic = { map: new Map([[1, new Set([2])]]), date: new Date(0) };
      cyclic.self = cyclic;
      const copy = structuredClone(cyclic);
      return { answer: { order, same: pieces === text && new TextDecoder().decode(bytes) === text, broken,
        base64: [btoa("hé"), atob(btoa("h\u00e9")) === "hé"],
        copy: [copy.self === copy, copy !== cyclic, copy.map.get(1).has(2), copy.date.getTime()] } };
    }`;
    await hook("web", code);
    expect((await fire()).answer).toEqual({
      do: "answer",
      result: {
        order: ["micro", "a", "b"],
        same: true,
        broken: "a\ufffdb\ufffd",
        base64: ["aOk=", true],
        copy: [true, true, true, 0],
      },
    });
  });

  test.each([
    ["turn.ended", "({ block: 'no' })", "pass, skip"],
    ["session.created", "({ answer: 1 })", "pass, skip, block"],
    ["message.received", "({ answer: 1 })", "pass, skip, modify, block"],
  ] as const)("an answer that %s does not take is the hook's failure", async (at, code, taken) => {
    await room.write("hooks/odd.ts", `/** @hook at=${at} */ export default () => ${code}`);
    const { answer, receipts } = await room.hooks.hooks.run({ ...toolBefore({ text: "x" }), at }, conversation());
    expect(answer).toEqual({ do: "pass" });
    expect(receipts[0]?.because).toContain(`which ${at} does not take; it takes ${taken}`);
  });

  test("a critical hook that fails or is late says so, and another lets the call pass", async () => {
    await hook("late", "export default () => new Promise((r) => setTimeout(r, 30_000))", "timeout=100ms critical");
    expect((await fire()).answer).toMatchObject({
      because: expect.stringMatching(/^Critical hook 'late' timed out: /),
    });
    await hook("late", "export default () => { throw new Error('boom') }", "critical");
    expect((await fire()).answer).toMatchObject({ because: expect.stringMatching(/^Critical hook 'late' failed: /) });
    await hook("late", "export default () => { throw new Error('boom') }", "on-error=allow");
    expect(await fire()).toMatchObject({
      answer: { do: "pass" },
      receipts: [{ verdict: "pass", because: expect.stringContaining("Error: boom") }],
    });
  });

  test.each([
    ["modify", "({ modify: { ...e.value, tool: 'x' } })"],
    ["block", "({ block: 'no' })"],
    ["answer", "({ answer: 1 })"],
    ["skip", "({ skip: true })"],
  ])("a hook of level read cannot %s: that is rejected and logged", async (what, code) => {
    await hook("looker", `export default (e) => ${code}`, "level=read");
    await hook("zlast", "export default () => ({ answer: 'reached' })");
    const { answer, receipts } = await fire();
    expect(answer).toEqual({ do: "answer", result: "reached" });
    const because = `hook "looker" answered ${what}, which level=read does not let it: it counts as a pass`;
    expect(receipts[0]).toMatchObject({ hook: "looker", verdict: "pass", because, ran: true });
    expect(room.printed).toContain(`looker: ${because}`);
  });

  test("what its level does not reach is denied, also when a person would say yes", async () => {
    await room.write("word.txt", "word");
    const code = `export default async () => ({ answer: await Promise.all([
      Deno.readTextFile("${room.folder}/word.txt"),
      Deno.writeTextFile("${room.folder}/new.txt", "x").catch((error) => error.name),
      fetch("http://127.0.0.1:8081/").catch((error) => error.name),
    ]) })`;
    await hook("modest", code, "level=write");
    const talk = conversation();
    talk.word = { said: "yes", scope: "once" };
    const { answer } = await room.hooks.hooks.run(toolBefore(EVENT), talk);
    expect(answer).toMatchObject({ do: "answer", result: ["word", undefined, "NotCapable"].map((x) => x ?? null) });
    expect(talk.questions.map(({ principal }) => principal)).toEqual(["hook:modest", "hook:modest"]);
  });

  test("a broken hook blocks the point it guards, and is shown", async () => {
    await room.write("hooks/a.ts", "/** @hook at=BeforeToolCall priority=high */ export default () => {}");
    await room.write("hooks/b.ts", "export default () => {}");
    await room.write("hooks/c.ts", "/** @hook at=tool.befor */ export default () => {}");
    expect((await fire()).answer).toMatchObject({ do: "block", because: expect.stringContaining("priority") });
    const rows = await room.hooks.admin.list();
    expect(rows.map(({ name, points, failure }) => [name, points, failure?.message])).toEqual([
      ["a", ["tool.before"], 'a.ts:1: priority: "high" is not a whole number'],
      ["b", [], "b.ts:1: it does not begin with a @hook header"],
      ["c", ["tool.before"], 'c.ts:1: at: there is no hook point "tool.befor"'],
    ]);
  });

  test("a hook file that cannot be looked at is shown as broken, and holds back no other", async () => {
    await symlink("loop.ts", join(room.hooksDir, "loop.ts"));
    await hook("guard", "export default () => ({ block: 'no' })");
    expect((await fire()).answer).toEqual({ do: "block", because: "no" });
    expect((await room.hooks.admin.list()).map(({ name, failure }) => [name, failure?.message])).toEqual([
      ["guard", undefined],
      ["loop", "loop.ts cannot be read"],
    ]);
    await rm(join(room.hooksDir, "loop.ts"));
    expect((await room.hooks.admin.list()).map(({ name }) => name)).toEqual(["guard"]);
  });

  test("hooks are added, tried and removed", async () => {
    const { admin } = room.hooks;
    const file = await room.write(
      "mine/guard.ts",
      body(
        "",
        "export default (e, clawd) => { console.log('saw', e.value); clawd.log(clawd.hook); return { block: 'no' } }",
      ),
    );
    expect(await admin.add(file)).toMatchObject({
      ok: true,
      value: { name: "guard", points: ["tool.before"], onError: "deny", priority: 500, timeoutMs: 5000 },
    });
    expect(await admin.add(file)).toMatchObject({ ok: false, failure: { code: "conflict" } });
    expect(await admin.test("guard", "", { tool: "x" })).toMatchObject({
      ok: true,
      value: { answer: { do: "block", because: "no" }, log: ['saw { tool: "x" }', "guard"] },
    });
    expect(await admin.test("guard", "message.received", {})).toMatchObject({
      ok: false,
      failure: { code: "invalid" },
    });
    expect(await admin.remove("gard")).toMatchObject({
      ok: false,
      failure: { code: "not_found", hint: "there are guard" },
    });
    expect(await admin.remove("guard")).toMatchObject({ ok: true });
    expect(await admin.list()).toEqual([]);
    const bad = await room.write("mine/bad.ts", body("", "export default ("));
    expect(await admin.add(bad)).toMatchObject({
      ok: false,
      failure: { code: "invalid", message: expect.stringMatching(/^bad\.ts:2:/) },
    });
  });
});
