import { readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ScriptNews, ScriptRequest } from "../../core/domain/admin.ts";
import { NO_SIGNAL, openSandboxRoom, type SandboxRoom } from "./fixtures/sandbox-room.ts";

type Run = { stdout: string; stderr: string; code: number };

async function collect(news: AsyncIterable<ScriptNews>): Promise<Run> {
  const run: Run = { stdout: "", stderr: "", code: Number.NaN };
  for await (const one of news) {
    if (one.kind === "exit") run.code = one.code;
    else run[one.kind] += one.text;
  }
  return run;
}

describe.each(["auto", "none"] as const)("claw run with a launcher of level %s", (wanted) => {
  const testOnce = wanted === "none" ? undefined : test;
  let room: SandboxRoom;
  beforeAll(async () => {
    room = await openSandboxRoom({ wanted, env: { CITY: "Oslo" }, limits: { scriptMs: 1500 } });
    if (wanted === "auto" && room.launcher.level === "none")
      console.info(`no bubblewrap here: ${room.launcher.detail}`);
  });
  afterAll(() => room.close());

  async function run(code: string, more: Partial<ScriptRequest> = {}, signal = NO_SIGNAL): Promise<Run> {
    const file = await room.write("scripts/main.ts", code);
    const request = { file, args: [], allow: [], deny: [], folder: join(room.folder, "scripts"), ...more };
    return collect(room.hooks.scripts.run(request, signal));
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
    });
  });

  test("an uncaught error goes to stderr with the place in the .ts file, and the exit code is 1", async () => {
    const code = "\nfunction inner(): never {\n  throw new TypeError('boom');\n}\ninner();\n";
    const { stderr, code: exit } = await run(code);
    expect(stderr).toMatch(/^error: Uncaught TypeError: boom\n {4}at inner \(main\.ts:3:9\)\n {4}at main\.ts:5:1\n$/);
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
    expect(stderr).toMatch(/^error: Uncaught Error: late\n {4}at .*main\.ts:1:\d+/);
    expect(exit).toBe(1);
  });

  test("Deno.exit ends it at once with its code", async () => {
    const { stdout, code } = await run(
      "console.log(1); try { Deno.exit(7) } catch {} console.log(2); setTimeout(() => {}, 1000)",
    );
    expect({ stdout, code }).toEqual({ stdout: "1\n", code: 7 });
  });

  // Slow, and the same code at both levels: once is enough.
  testOnce?.each([
    ["an endless loop", "for (;;);", /did not finish within 1500 ms|process was killed|ran for 1500 ms/],
    ["a wait for nothing", "await new Promise(() => {})", /waits for something that never comes/],
    ["an endless interval", "setInterval(() => {}, 10)", /did not finish within 1500 ms/],
    [
      "a memory bomb",
      "const a: unknown[] = []; for (;;) a.push(new Array(1e5).fill(a));",
      /memory|process|did not finish/,
    ],
  ])("%s is ended with a reason", async (_what, code, why) => {
    const { stderr, code: exit } = await run(code);
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

  test("a wrong grant or file is refused before anything runs", async () => {
    expect(await run("", { allow: ["raed=./x"] })).toMatchObject({ code: 2, stderr: expect.stringContaining("raed") });
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
    expect(await run(code)).toEqual({ stdout: "4 2 1 true\n", stderr: "", code: 0 });
  });

  test("a slow reader holds the script back, and gets every line", async () => {
    const file = await room.write("scripts/many.ts", "for (let i = 0; i < 5000; i++) console.log(i, 'x'.repeat(100));");
    const request = { file, args: [], allow: [], deny: [], folder: room.folder };
    let lines = 0;
    let code = Number.NaN;
    for await (const news of room.hooks.scripts.run(request, NO_SIGNAL)) {
      if (news.kind === "exit") code = news.code;
      else lines += 1;
      if (lines % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect([lines, code]).toEqual([5000, 0]);
  });

  test("an abort kills it, and so does a reader that leaves", async () => {
    const file = await room.write("scripts/wait.ts", "console.log('up'); setInterval(() => {}, 10);");
    const request = { file, args: [], allow: [], deny: [], folder: room.folder };
    const interrupt = new AbortController();
    const news: ScriptNews[] = [];
    for await (const one of room.hooks.scripts.run(request, interrupt.signal)) {
      news.push(one);
      interrupt.abort();
    }
    expect(news).toEqual([
      { kind: "stdout", text: "up\n" },
      { kind: "exit", code: 130 },
    ]);
    for await (const one of room.hooks.scripts.run(request, NO_SIGNAL)) {
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
