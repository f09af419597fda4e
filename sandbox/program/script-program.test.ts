import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { childrenOf } from "../os/process-tree.ts";
import { buildProgram, type ScriptProgram } from "./script-program.ts";

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "clawd-program-")));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(path: string, text: string): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

async function built(file: string): Promise<ScriptProgram> {
  const program = await buildProgram(file);
  if (!program.ok) throw new Error(program.failure.message);
  return program.value;
}

async function failureOf(file: string, limitMs?: number): Promise<{ code: string; message: string }> {
  const program = await buildProgram(file, "", limitMs);
  if (program.ok) throw new Error("it was built");
  return program.failure;
}

// biome-ignore lint/security/noGlobalEval: the programs are the test's own
const evaluate = globalThis.eval;

/** Runs a program here, where its text is ours. */
async function exportsOf({ source }: ScriptProgram): Promise<Record<string, unknown>> {
  let exported: Record<string, unknown> = {};
  await evaluate(source)((taken: Record<string, unknown>) => {
    exported = { ...taken };
  });
  return exported;
}

/** The error that a program throws, as a guest would report it. */
async function thrownBy({ source }: ScriptProgram): Promise<{ name: string; message: string; stack: string }> {
  try {
    await evaluate(source)(() => {});
  } catch (error) {
    const { name, message, stack = "" } = error as Error;
    return { name, message, stack };
  }
  throw new Error("it threw nothing");
}

test("TypeScript with enums, namespaces, parameter properties, using, JSON and imports of its folder becomes one text", async () => {
  await write("lib/names.ts", "export const names: string[] = ['a', 'b'];");
  await write("data.json", '{ "n": 3 }');
  const file = await write(
    "main.ts",
    `import { names } from "./lib/names.ts";
     import data from "./data.json";
     import type { Hook } from "clawd:hooks";
     import { Event } from "clawd:hooks";
     enum Color { Red = 4 }
     namespace N { export const n = 5 }
     class P { constructor(readonly p: number) {} }
     const used: number[] = [];
     { using r = { [Symbol.dispose]() { used.push(1) } }; }
     export default [names, data.n, Color.Red, N.n, new P(6).p, used.length] as unknown as Hook & Event`,
  );
  expect((await exportsOf(await built(file))).default).toEqual([["a", "b"], 3, 4, 5, 6, 1]);
});

test("a shebang line is a comment, in imported files too", async () => {
  await write("tool.js", "#!/usr/bin/env node\nexport const n = 1");
  const file = await write("main.js", "#!/usr/bin/env claw\nimport { n } from './tool.js';\nexport default n + 1");
  expect((await exportsOf(await built(file))).default).toBe(2);
});

test("import.meta is each file's own, and only the script itself is main", async () => {
  await write("lib.ts", "export const meta = [import.meta.main, import.meta.url, import . meta . filename]");
  const file = await write("main.ts", "import { meta } from './lib.ts'; export default [import.meta.main, ...meta]");
  expect((await exportsOf(await built(file))).default).toEqual([true, false, "file:///lib.ts", "/lib.ts"]);
});

test.each([
  ["a module of Node", 'import "node:net"', /main.ts:1:8: "node:net" cannot be imported/],
  ["a package", 'import "esbuild"', /cannot be imported/],
  ["a URL", 'import "https://example.org/x.ts"', /cannot be imported/],
  ["an absolute path", 'import "/etc/hostname.js"', /cannot be imported/],
  ["a file that is not there", 'import "./none.ts"', /"\.\/none.ts" does not exist/],
  ["a file outside its folder", 'import "../outside.js"', /"\.\.\/outside.js" is outside the script's folder/],
  ["a file outside by a link", 'import "./link.js"', /"\.\/link.js" is outside the script's folder/],
  ["a file of another kind", 'import "./page.html"', /does not exist/],
  ["a folder", 'import "./folder.js"', /not a regular file/],
  ["a value of the types", 'import { a } from "clawd:hooks"; a()', /No matching export/],
  ["a dynamic module of Node", 'await import("node:net")', /cannot be imported/],
  ["nothing, but does not parse", "export default (", /main.ts:1:17/],
])("a script that imports %s is refused", async (_what, code, message) => {
  await write("outside.js", "");
  await mkdir(join(folder, "in/folder.js"), { recursive: true });
  await symlink(join(folder, "outside.js"), join(folder, "in/link.js"));
  const failure = await failureOf(await write("in/main.ts", code));
  expect(failure).toMatchObject({ code: "invalid", message: expect.stringMatching(message) });
});

test("a program of more than 1 MiB is refused, whether in one file or in many", async () => {
  const big = `export const s = "${"x".repeat(600_000)}"`;
  expect((await failureOf(await write("one.ts", big + big))).message).toMatch(/1048576/);
  await write("a.ts", big);
  await write("b.ts", big);
  const file = await write("two.ts", "import './a.ts'; import './b.ts';");
  expect((await failureOf(file)).message).toMatch(/more than 1048576 bytes/);
});

test("an unchanged script is not bundled again, by whatever time its files bear", async () => {
  const lib = await write("lib.ts", "export const n = 1;");
  const file = await write("main.ts", "import { n } from './lib.ts'; export default n");
  const first = await built(file);
  expect(await built(file)).toBe(first);
  await utimes(lib, 1, 1);
  const second = await built(file);
  expect(second.id).toBe(first.id);
  expect(second.source).toBe(first.source);
  expect(second.inputs).not.toEqual(first.inputs);
  await writeFile(lib, "export const n = 2;");
  expect((await exportsOf(await built(file))).default).toBe(2);
});

test("a file that takes the place of another import is noticed", async () => {
  await write("lib.ts", "export const n = 1;");
  const file = await write("main.ts", "import { n } from './lib.js'; export default n");
  expect((await exportsOf(await built(file))).default).toBe(1);
  await write("lib.js", "export const n = 2;");
  expect((await exportsOf(await built(file))).default).toBe(2);
});

test("a comment that changes makes another program of it, for its grant may stand there", async () => {
  const file = await write("main.ts", "/** @allow read */ export default 1");
  const { id } = await built(file);
  await writeFile(file, "/** @allow net! */ export default 1");
  expect((await built(file)).id).not.toBe(id);
});

test("errors point at the lines of the .ts files and show no path of this machine", async () => {
  await write("deep/thrower.ts", "type A = 1;\nexport function fling(): never {\n  throw new TypeError('flung');\n}");
  const file = await write("main.ts", "import { fling } from './deep/thrower.ts';\n\nfling();");
  const program = await built(file);
  const { line, where, full } = program.explain(await thrownBy(program));
  expect(line).toBe("TypeError: flung");
  expect(where).toBe("deep/thrower.ts:3:9");
  expect(full).toContain("at fling (deep/thrower.ts:3:9)");
  expect(full).toContain("main.ts:3:1");
  expect(full).not.toContain(folder);
});

test("files keep their names in errors, whatever is in them", async () => {
  for (const name of ["50%.ts", "a%20b.ts", "m n ü.ts", "a?b#c.ts"]) {
    const program = await built(await write(name, "throw new Error('here');"));
    expect(program.explain(await thrownBy(program)).where).toBe(`${name}:1:7`);
  }
});

test("the program shows the guest no path of this machine, and every file of it is a module", async () => {
  await write("lib/late.ts", "throw new Error([typeof module, typeof exports, typeof this].join(' '));");
  const program = await built(await write("main.ts", "await import('./lib/late.ts');"));
  expect(program.source).not.toContain(folder);
  const { message, stack } = await thrownBy(program);
  expect(message).toBe("undefined undefined undefined");
  expect(program.explain({ name: "Error", message, stack }).where).toBe("lib/late.ts:1:7");
});

test("an error in the first line is placed where it stands", async () => {
  expect(await failureOf(await write("main.ts", "import.meta.url = ;"))).toMatchObject({
    message: expect.stringMatching(/^main\.ts:1:19: /),
  });
});

test("printed stacks are those of the .ts files, as they are indented, and nothing else changes", async () => {
  const program = await built(
    await write("main.ts", "type A = 1;\nexport function fling() {\n  throw new Error('x');\n}\nfling();"),
  );
  const stack = (await thrownBy(program)).stack
    .split("\n")
    .filter((line) => !/^ +at .*(?:vitest|node:|\.test\.ts)/.test(line));
  const nested = `{\n  e: ${stack.join("\n  ")}\n}\n`;
  expect(program.explainPrinted(nested)).toBe(
    "{\n  e: Error: x\n      at fling (main.ts:3:9)\n      at main.ts:5:1\n}\n",
  );
  const [place = ""] = /clawd:guest:\d+:\d+/.exec(stack.join()) ?? [];
  expect(program.explainPrinted(`it broke at ${place}, twice: ${place}`)).toBe(
    "it broke at main.ts:3:9, twice: main.ts:3:9",
  );
  const foreign = "clawd:guest:999999:1 and\n    at go (elsewhere.ts:1:2)\n";
  expect(program.explainPrinted(foreign)).toBe(foreign);
  const flood = `${place} `.repeat(5000);
  expect(program.explainPrinted(flood).match(/main\.ts:3:9/g)).toHaveLength(200);
});

test("a first line that says import.meta keeps its columns", async () => {
  const file = await write("main.ts", "if (import.meta.main) throw new Error('here');");
  const program = await built(file);
  expect(program.explain(await thrownBy(program)).where).toBe("main.ts:1:29");
});

function charsReadBy(pid: number): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "latin1"))?.[1]);
}

test("a script on which the bundler dies fails alone, and the next one is bundled", async () => {
  const bad = await write("bad.ts", `x = ${"1+".repeat(450_000)}1`);
  const good = await write("good.ts", "export default 1");
  // Its process is up before the one to die is handed to it.
  await built(await write("first.ts", "export default 0"));
  const service = childrenOf(process.pid).find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("--service="),
  );
  if (service === undefined) throw new Error("the bundler has no process");
  const before = charsReadBy(service);
  const failing = failureOf(bad);
  const fine = built(good);
  // It has the script in hand, and needs a while for it.
  await vi.waitFor(() => expect(charsReadBy(service)).toBeGreaterThan(before + 900_000), { interval: 1 });
  process.kill(service, "SIGKILL");
  expect(await failing).toMatchObject({
    code: "exhausted",
    message: expect.stringMatching(/bad.ts breaks the bundler/),
  });
  expect((await exportsOf(await fine)).default).toBe(1);
});

test("a bundling that takes too long is ended, and the next script is bundled", async () => {
  const slow = await write("slow.ts", `x = ${"1+".repeat(450_000)}1`);
  expect(await failureOf(slow, 5)).toMatchObject({ code: "exhausted", message: "slow.ts was not bundled within 5 ms" });
  expect((await exportsOf(await built(await write("good.ts", "export default 1")))).default).toBe(1);
});

test("an import map names files of the folder and modules of Node, and leads nowhere else", async () => {
  const outside = await mkdtemp(join(tmpdir(), "clawd-map-"));
  try {
    await mkdir(join(outside, "in"));
    await writeFile(join(outside, "secret.ts"), "export const secret = 1;");
    await writeFile(join(outside, "in/own.ts"), "export const own = 2;");
    const imports = { own: "./own.ts", "up/": "../", far: "/etc/hosts", web: "https://a/b.ts", paths: "node:path" };
    await writeFile(join(outside, "in/deno.jsonc"), `{ // words\n "imports": ${JSON.stringify(imports)}, }`);
    const build = async (text: string) => {
      await writeFile(join(outside, "in/main.ts"), text);
      const built = await buildProgram(join(outside, "in/main.ts"));
      return built.ok ? "built" : built.failure.message;
    };
    expect(await build('import { own } from "own"; import "paths"; console.log(own);')).toBe("built");
    expect(await build('import { secret } from "up/secret.ts"; console.log(secret);')).toContain("outside");
    expect(await build('import hosts from "far"; console.log(hosts);')).toContain("does not exist");
    expect(await build('import hosts from "far" with { type: "text" }; console.log(hosts);')).toContain("outside");
    expect(await build('import web from "web"; console.log(web);')).toContain("cannot be imported");
    await writeFile(join(outside, "in/deno.jsonc"), "no JSON");
    expect(await build("console.log(1);")).toContain("is no import map");
  } finally {
    await rm(outside, { recursive: true });
  }
});
