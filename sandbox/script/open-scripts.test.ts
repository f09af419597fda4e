import { readFileSync } from "node:fs";
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ScriptNews, ScriptRequest } from "../../core/domain/admin.ts";
import { fail } from "../../core/domain/failure.ts";
import { openScriptRoom, type ScriptRoom } from "../fixtures/script-room.ts";

type Question = Extract<ScriptNews, { kind: "question" }>;
type Run = { stdout: string; stderr: string; code: number; asked: string[] };

const NO_SIGNAL: AbortSignal = new AbortController().signal;
/** Ends what a test lets run too long; tests of other things come nowhere near it. */
const TIME_LIMIT_MS = 20_000;

describe.each(["auto", "none"] as const)("claw run with a launcher of level %s", (wanted) => {
  const testOnce = wanted === "none" ? undefined : test;
  let room: ScriptRoom;
  beforeAll(async () => {
    room = await openScriptRoom({ wanted, env: { CITY: "Oslo", API_KEY: "secret" } });
    if (wanted === "auto" && room.launcher.level === "none")
      console.info(`no bubblewrap here: ${room.launcher.detail}`);
  });
  afterAll(() => room.close());

  function request(file: string, more: Partial<ScriptRequest>): ScriptRequest {
    const plain = {
      args: [],
      allow: [],
      deny: [],
      timeLimitMs: TIME_LIMIT_MS,
      memoryLimitMib: 0,
      attended: false,
      runtime: "",
    };
    return { file, folder: join(room.folder, "scripts"), ...plain, ...more };
  }

  async function collect(wish: ScriptRequest, answer: (question: Question) => "yes" | "all" | "no" = () => "no") {
    const run: Run = { stdout: "", stderr: "", code: Number.NaN, asked: [] };
    for await (const news of room.scripts.run(wish, NO_SIGNAL)) {
      if (news.kind === "exit") run.code = news.code;
      else if (news.kind === "question") {
        run.asked.push(news.permission);
        const said = answer(news);
        const told = { questionId: news.questionId, allowed: said !== "no", allOfKind: said === "all" };
        expect(room.scripts.answer(told).ok).toBe(true);
      } else if (news.kind === "stdout" || news.kind === "stderr") run[news.kind] += news.text;
      else if (news.kind === "bytes") run[news.to] += Buffer.from(news.bytes).toString();
    }
    return run;
  }

  async function run(
    code: string,
    more: Partial<ScriptRequest> = {},
    answer?: (question: Question) => "yes" | "all" | "no",
  ) {
    const file = await room.write("scripts/main.ts", code);
    return collect(request(file, more), answer);
  }

  test("prints, waits at the top level, knows its arguments, and ends with its last timer", async () => {
    const code = `
      console.log("hello", { a: [1, "x"], m: new Map([["k", null]]) });
      console.error("careful");
      const args: readonly string[] = await new Promise((resolve) => setTimeout(() => resolve(Deno.args), 10));
      console.log(args.join("+"));
      setTimeout(() => console.log("last"), 20);
    `;
    expect(await run(code, { args: ["a", "b c"] })).toEqual({
      stdout: 'hello { a: [ 1, "x" ], m: Map(1) { "k" => null } }\na+b c\nlast\n',
      stderr: "careful\n",
      code: 0,
      asked: [],
    });
  });

  test("an error that is printed, and one that a promise was rejected with unheard, have the places in the .ts file", async () => {
    const code = `type A = 1;
      function fling(): never {
        throw new TypeError("boom");
      }
      try { fling(); } catch (error) { console.log({ error }); }
      Promise.reject(new Error("unheard"));
      await new Promise((done) => setTimeout(done, 1000));`;
    const { stdout, stderr } = await run(code);
    expect(stdout).toMatch(
      /^\{\n {2}error: TypeError: boom\n {6}at fling \(main\.ts:3:\d+\)\n {6}at main\.ts:5:\d+\n\}\n$/,
    );
    expect(stderr).toMatch(/^error: Uncaught \(in promise\) Error: unheard\n {4}at main\.ts:6:\d+\n$/);
  });

  test("a script stands still for a file, and for a person who is asked about it", async () => {
    const code = `Deno.writeTextFileSync("stood.txt", "a");
      console.log(Deno.readTextFileSync("stood.txt"), [...Deno.readDirSync(".")].length > 0);`;
    const { stdout, asked, code: exit } = await run(code, { attended: true }, () => "yes");
    expect([stdout, exit]).toEqual(["a true\n", 0]);
    expect(asked.length).toBeGreaterThan(1);
  });

  test("a script that stands still for ever is ended by its time limit, and the next one runs", async () => {
    const { stderr, code } = await run("Deno.stdin.readSync(new Uint8Array(1)); console.log('never')", {
      timeLimitMs: 1500,
    });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/did not finish within 1500 ms/)]);
    expect((await run("console.log('next')")).stdout).toBe("next\n");
  });

  test("a script stands still in any place: in what a rejected Proxy does, in what an error says, in a listener", async () => {
    await room.write("scripts/note.txt", "A");
    const read = 'Deno.readTextFileSync("note.txt")';
    const grant = { allow: ["read"] };
    const proxy = `Promise.reject(new Proxy({}, { get() { return ${read}; }, ownKeys() { ${read}; return []; } }));`;
    expect(await run(proxy, grant)).toMatchObject({ code: 1, stderr: expect.stringContaining("Uncaught") });
    const error = `const e = new Error("x");
      for (const k of ["name", "message", "stack"]) Object.defineProperty(e, k, { get: () => "got " + ${read} });
      throw e;`;
    expect(await run(error, grant)).toMatchObject({ code: 1, stderr: expect.stringContaining("got A") });
    const listener = `addEventListener("unhandledrejection", (event) => { console.log(${read}); event.preventDefault(); });
      JSON.parse = () => ({ ok: true, value: "forged" });
      Promise.reject(new Error("y"));`;
    expect(await run(listener, grant)).toMatchObject({ code: 0, stdout: "A\n" });
  });

  test("a script that stands still ends when nobody waits for it any more", async () => {
    const file = await room.write(
      "scripts/stands.ts",
      "console.log('stands'); Deno.stdin.readSync(new Uint8Array(1));",
    );
    const stop = new AbortController();
    const kinds: string[] = [];
    for await (const news of room.scripts.run(request(file, {}), stop.signal)) {
      kinds.push(news.kind);
      if (news.kind === "input") stop.abort();
    }
    expect(kinds).toEqual(["stdout", "input", "exit"]);
  });

  test("an uncaught error goes to stderr with the place in the .ts file, and the exit code is 1", async () => {
    const code = "\nfunction inner(): never {\n  throw new TypeError('boom');\n}\ninner();\n";
    const { stderr, code: exit } = await run(code);
    expect(stderr).toMatch(
      /^error: Uncaught \(in promise\) TypeError: boom\n {4}at inner \(main\.ts:3:9\)\n {4}at main\.ts:5:1\n$/,
    );
    expect(stderr).not.toContain(room.folder);
    expect(exit).toBe(1);
  });

  test.each([
    ["in a timer", "setTimeout(() => { throw new Error('late') }, 1)"],
    [
      "in a promise that nobody awaits",
      "void (async () => { throw new Error('late') })(); await new Promise((r) => setTimeout(r, 1000))",
    ],
  ])("an uncaught error %s ends the script", async (_where, code) => {
    const { stderr, code: exit } = await run(code);
    expect(stderr).toMatch(/^error: Uncaught (\(in promise\) )?Error: late\n {4}at .*main\.ts:1:\d+/);
    expect(exit).toBe(1);
  });

  test.each([
    [
      "Deno.exit ends it at once",
      "console.log(1); try { Deno.exit(7) } catch {} console.log(2); setTimeout(() => {}, 9999)",
      7,
    ],
    ["Deno.exitCode is the code of its end", "Deno.exitCode = 5; setTimeout(() => console.log(1), 5)", 5],
    ["an uncaught error beats Deno.exitCode", "console.log(1); Deno.exitCode = 5; throw new Error('x')", 1],
  ])("%s", async (_what, code, expected) => {
    const { stdout, code: exit } = await run(code);
    expect({ stdout, exit }).toEqual({ stdout: "1\n", exit: expected });
  });

  // Slow, and the same code at both levels: once is enough.
  testOnce?.each([
    ["an endless loop", "for (;;);", /1500 ms|process was killed/],
    ["a wait for nothing", "await new Promise(() => {})", /waits for something that never comes/],
    ["an endless interval", "setInterval(() => {}, 10)", /1500 ms/],
    ["a memory bomb", "const a: unknown[] = []; for (;;) a.push(new Array(1e5).fill(a));", /memory|process/],
    [
      "a bomb of buffers",
      "const a: unknown[] = []; for (;;) a.push(new Uint8Array(1e7).fill(1));",
      /memory|process|allocation failed/,
    ],
  ])("%s is ended with a reason", async (_what, code, why) => {
    const { stderr, code: exit } = await run(code, { timeLimitMs: 1500, memoryLimitMib: 32 });
    expect(stderr).toMatch(why);
    expect(exit).toBe(1);
  });

  test("reads what --allow-read grants, and nothing else", async () => {
    await room.write("scripts/data/in.txt", "inside");
    await room.write("outside.txt", "outside");
    await symlink(join(room.folder, "outside.txt"), join(room.folder, "scripts/data/link.txt")).catch(() => {});
    const code = `
      for (const path of ["data/in.txt", "data/link.txt", "../outside.txt"]) {
        console.log(await Deno.readTextFile(path).catch((error: Error) => error.name));
      }
      try { console.log(Deno.env.get("CITY")) } catch (error) { console.log((error as Error).message) }`;
    expect((await run(code, { allow: ["read=./data", "env=CITY"] })).stdout).toBe(
      "inside\nNotCapable\nNotCapable\nOslo\n",
    );
    const { stdout } = await run(code);
    expect(stdout).toMatch(/^NotCapable\nNotCapable\nNotCapable\n.*--allow-env=CITY/);
    expect((await run(code, { allow: ["read"], deny: ["read=./data"] })).stdout).toMatch(
      /^NotCapable\nNotCapable\noutside\n/,
    );
  });

  test("writes, lists, moves and removes in the granted folder, with Deno's errors", async () => {
    const code = `
      const name = (work: Promise<unknown>) => work.then(() => "done", (error: Error) => error.name);
      await Deno.mkdir("work/deep", { recursive: true });
      await Deno.writeTextFile("work/a.txt", "one");
      await Deno.writeTextFile("work/a.txt", " two", { append: true });
      await Deno.writeFile("work/deep/b.bin", new Uint8Array([0, 255]));
      await Deno.rename("work/a.txt", "work/c.txt");
      const names: string[] = [];
      for await (const entry of Deno.readDir("work")) names.push(entry.name + (entry.isDirectory ? "/" : ""));
      console.log(names.sort().join(" "), await Deno.readTextFile("work/c.txt"), (await Deno.readFile("work/deep/b.bin"))[1]);
      const { size, isFile, mtime } = await Deno.stat("work/c.txt");
      console.log(size, isFile, mtime instanceof Date);
      console.log(await name(Deno.readTextFile("work/none")), await name(Deno.mkdir("work")),
        await name(Deno.writeTextFile("work/c.txt", "", { createNew: true })), await name(Deno.readTextFile("work")),
        await name(Deno.writeTextFile("other.txt", "x")));
      await Deno.remove("work/deep", { recursive: true });
      console.log(await Deno.stat("work/deep").catch((error) => error instanceof Deno.errors.NotFound));`;
    const { stdout, stderr } = await run(code, { allow: ["read=./work", "write=./work"] });
    expect(stderr).toBe("");
    expect(stdout).toBe(
      "c.txt deep/ one two 255\n7 true true\nNotFound AlreadyExists AlreadyExists IsADirectory NotCapable\ntrue\n",
    );
    expect(await readFile(join(room.folder, "scripts/work/c.txt"), "utf8")).toBe("one two");
  });

  test("an uncaught denial names the flag that would allow it", async () => {
    const { stderr, code } = await run('await Deno.readTextFile("/etc/hostname")');
    expect(stderr).toContain('error: Uncaught (in promise) NotCapable: Requires read access to "/etc/hostname"');
    expect(stderr).toContain("--allow-read=/etc/hostname");
    expect(stderr).toContain("main.ts:1:");
    expect(code).toBe(1);
  });

  test("asks an attending person, once for the same thing, and takes a no for a no", async () => {
    await room.write("scripts/data/in.txt", "inside");
    const code = `
      const read = (path: string) => Deno.readTextFile(path).catch((error: Error) => error.name);
      console.log(await read("data/in.txt"), await read("data/in.txt"), await read("../outside.txt"), await read("../outside.txt"));`;
    const inside = `read=${join(room.folder, "scripts/data/in.txt")}`;
    const answer = ({ permission }: Question) => (permission === inside ? "yes" : "no");
    const { stdout, asked } = await run(code, { attended: true }, answer);
    expect(stdout).toBe("inside inside NotCapable NotCapable\n");
    expect(asked).toEqual([inside, `read=${join(room.folder, "outside.txt")}`]);
  });

  test("a yes to all of a kind is asked for no more, but other kinds are, and a deny is a deny", async () => {
    await room.write("scripts/data/in.txt", "inside");
    await room.write("scripts/data/no.txt", "secret");
    await room.write("outside.txt", "outside");
    const code = `
      const name = (work: Promise<unknown>) => work.then(String, (error: Error) => error.name);
      console.log(await name(Deno.readTextFile("data/in.txt")), await name(Deno.readTextFile("../outside.txt")),
        await name(Deno.readTextFile("data/no.txt")), await name(Deno.writeTextFile("data/new.txt", "")));`;
    const wish = { attended: true, deny: ["read=./data/no.txt"] };
    const { stdout, asked } = await run(code, wish, ({ permission }) => (permission.startsWith("read") ? "all" : "no"));
    expect(stdout).toBe("inside outside NotCapable NotCapable\n");
    expect(asked.map((permission) => permission.split("=")[0])).toEqual(["read", "write"]);
  });

  test("permissions can be asked for, looked at and given up", async () => {
    const code = `
      const env = { name: "env", variable: "CITY" } as const;
      const before = await Deno.permissions.query(env);
      console.log(before.state);
      before.onchange = () => console.log("changed to", before.state);
      await Deno.permissions.request(env);
      console.log(Deno.env.get("CITY"));
      await Deno.permissions.revoke(env);
      try { Deno.env.get("CITY") } catch (error) { console.log(error instanceof Deno.errors.NotCapable) }`;
    const { stdout, asked } = await run(code, { attended: true }, () => "yes");
    expect(stdout).toBe("prompt\nchanged to granted\nOslo\nchanged to prompt\ntrue\n");
    expect(asked).toEqual(["env=CITY"]);
  });

  test("where nobody attends nothing is asked", async () => {
    const { stdout, asked } = await run(
      `console.log((await Deno.permissions.request({ name: "read", path: "." })).state,
        await Deno.readTextFile("main.ts").catch((error: Error) => error.name))`,
    );
    expect(stdout).toMatch(/^(denied|prompt) NotCapable\n$/);
    expect(asked).toEqual([]);
  });

  test("a script that is interrupted while it asks leaves no question behind", async () => {
    const file = await room.write("scripts/asks.ts", 'await Deno.readTextFile("../outside.txt")');
    const interrupt = new AbortController();
    const news: ScriptNews[] = [];
    for await (const one of room.scripts.run(request(file, { attended: true }), interrupt.signal)) {
      news.push(one);
      interrupt.abort();
    }
    const [question, exit] = news;
    expect([question?.kind, exit]).toEqual(["question", { kind: "exit", code: 130 }]);
    const late = room.scripts.answer({
      questionId: (question as Question).questionId,
      allowed: true,
      allOfKind: false,
    });
    expect(late).toMatchObject({ ok: false, failure: { code: "not_found" } });
  });

  test("each decision is recorded before the act; when it cannot be, nothing is done", async () => {
    await room.write("scripts/data/in.txt", "inside");
    const code =
      'await Deno.writeTextFile("data/made.txt", await Deno.readTextFile("data/in.txt")); Deno.env.get("CITY")';
    const wish = { allow: ["read=./data", "write=./data", "env=CITY"] };
    const from = room.decisions.length;
    expect((await run(code, wish)).code).toBe(0);
    const made = room.decisions.slice(from);
    expect(made.map(({ permission }) => permission.split("=")[0]).toSorted()).toEqual(["env", "read", "write"]);
    for (const decision of made)
      expect(decision).toMatchObject({
        allowed: true,
        by: "rule",
        principal: expect.stringMatching(/^script:.*main\.ts$/),
      });
    room.answerRecords(async ({ permission }) => {
      if (permission.startsWith("env")) return { ok: true, value: undefined };
      return fail("unavailable", "the disk is full");
    });
    const { code: exit, stdout } = await run(`${code}; console.log("on")`, wish);
    room.answerRecords(async () => ({ ok: true, value: undefined }));
    expect([exit, stdout]).toEqual([1, ""]);
  });

  test("a wrong grant, limit or file is refused before anything runs", async () => {
    expect(await run("", { allow: ["raed=./x"] })).toMatchObject({ code: 2, stderr: expect.stringContaining("raed") });
    expect(await run("", { allow: ["all"] })).toMatchObject({ code: 2, stderr: expect.stringContaining("all") });
    expect(await run("", { memoryLimitMib: 4 })).toMatchObject({ code: 2, stderr: expect.stringContaining("4 MiB") });
    expect(await run("", { timeLimitMs: 2 ** 31 })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("limit"),
    });
    expect(await run("", { file: join(room.folder, "none.ts") })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("none.ts"),
    });
    expect(await run("", { file: "/etc/passwd" })).toMatchObject({ code: 2 });
    expect(await run("const a = ;")).toMatchObject({ code: 1, stderr: expect.stringMatching(/main\.ts:1:11: /) });
  });

  test("imports of its own folder work, with the types and the syntax that only TypeScript has", async () => {
    await room.write(
      "scripts/lib/shape.ts",
      "export enum Shape { Square = 4 }\nexport class Box { constructor(readonly n: number) {} }",
    );
    await room.write("scripts/lib/data.json", '{"a":[1]}');
    const code = `import { Shape, Box } from "./lib/shape.ts"; import data from "./lib/data.json" with { type: "json" };
      console.log(Shape.Square, new Box(2).n, data.a[0], import.meta.main);`;
    expect(await run(code)).toMatchObject({ stdout: "4 2 1 true\n", stderr: "", code: 0 });
  });

  test.each(["plain.js", "module.mjs", "typed.mts"])("a file %s with a #! line runs", async (name) => {
    const file = await room.write(`scripts/${name}`, "#!/usr/bin/env -S claw run\nconsole.log(Deno.args[0]);");
    expect(await collect(request(file, { args: ["--allow-read"] }))).toMatchObject({
      stdout: "--allow-read\n",
      code: 0,
    });
  });

  test("10 MB of output arrive whole and in order", async () => {
    const code =
      "const line = 'x'.repeat(999); for (let i = 0; i < 10_000; i++) console.log(line); console.log('end');";
    const { stdout, code: exit } = await run(code);
    expect([stdout.length, stdout.endsWith("x\nend\n"), exit]).toEqual([10_000_004, true, 0]);
  });

  test("a slow reader holds the script back, and gets every line", async () => {
    const file = await room.write("scripts/many.ts", "for (let i = 0; i < 5000; i++) console.log(i, 'x'.repeat(100));");
    let lines = 0;
    let code = Number.NaN;
    for await (const news of room.scripts.run(request(file, {}), NO_SIGNAL)) {
      if (news.kind === "exit") code = news.code;
      else lines += 1;
      if (lines % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect([lines, code]).toEqual([5000, 0]);
  });

  test("an abort kills it, and so does a reader that leaves", async () => {
    const file = await room.write("scripts/wait.ts", "console.log('up'); setInterval(() => {}, 10);");
    const interrupt = new AbortController();
    const news: ScriptNews[] = [];
    for await (const one of room.scripts.run(request(file, {}), interrupt.signal)) {
      news.push(one);
      interrupt.abort();
    }
    expect(news).toEqual([
      { kind: "stdout", text: "up\n" },
      { kind: "exit", code: 130 },
    ]);
    for await (const one of room.scripts.run(request(file, {}), NO_SIGNAL)) {
      expect(one).toEqual({ kind: "stdout", text: "up\n" });
      break;
    }
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
    const commands = children
      .map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"))
      .filter((text) => text.includes(room.files.hostFile));
    expect(commands).toEqual([]);
  });
});
