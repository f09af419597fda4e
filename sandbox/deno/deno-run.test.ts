import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ScriptNews, ScriptRequest } from "../../core/domain/admin.ts";
import { fail } from "../../core/domain/failure.ts";
import { openScriptRoom, type ScriptRoom } from "../fixtures/script-room.ts";

type Question = Extract<ScriptNews, { kind: "question" }>;

const DENO = join(import.meta.dirname, "../../node_modules/deno/deno");
const NO_SIGNAL: AbortSignal = new AbortController().signal;
const TIME_LIMIT_MS = 30_000;

const isDenoHere = existsSync(DENO);
if (!isDenoHere) console.info("no Deno here: npm did not run its installer");

describe.skipIf(!isDenoHere)("claw run --runtime=deno", () => {
  let room: ScriptRoom;

  beforeAll(async () => {
    room = await openScriptRoom({ wanted: "auto", env: { CITY: "Oslo", API_KEY: "secret" }, deno: DENO });
  });
  afterAll(() => room.close());

  async function run(
    code: string,
    more: Partial<ScriptRequest> = {},
    answer: (question: Question) => "yes" | "all" | "no" = () => "no",
  ) {
    const file = await room.write("scripts/main.ts", code);
    const plain = { args: [], allow: [], deny: [], timeLimitMs: TIME_LIMIT_MS, memoryLimitMib: 0, attended: false };
    const wish = { ...plain, file, folder: join(room.folder, "scripts"), runtime: "deno", ...more };
    const end = { stdout: "", stderr: "", code: Number.NaN, asked: [] as string[] };
    for await (const news of room.scripts.run(wish, NO_SIGNAL)) {
      if (news.kind === "exit") end.code = news.code;
      else if (news.kind === "question") {
        end.asked.push(news.permission);
        const said = answer(news);
        room.scripts.answer({ questionId: news.questionId, allowed: said !== "no", allOfKind: said === "all" });
      } else if (news.kind === "stdout" || news.kind === "stderr") end[news.kind] += news.text;
    }
    return end;
  }

  test("prints, knows its arguments and ends with its own code", async () => {
    const end = await run('console.log("hi", Deno.args); console.error("careful"); Deno.exit(7)', {
      args: ["a", "b c"],
    });
    expect(end).toEqual({ stdout: 'hi [ "a", "b c" ]\n', stderr: "careful\n", code: 7, asked: [] });
  });

  const ATTEMPT = `const attempt = async (name: string, work: () => unknown) => {
    try { console.log(name, await work()) } catch (error) { console.log(name, (error as Error).name, (error as Error).message) }
  };\n`;

  test("reads what is granted, by relative paths too, and a refusal names the flag", async () => {
    await room.write("scripts/data/in.txt", "inside");
    await room.write("outside.txt", "outside");
    const code = `${ATTEMPT}
      await attempt("in", () => Deno.readTextFile("data/in.txt"));
      await attempt("out", () => Deno.readTextFile("../outside.txt"));
      Deno.chdir("data");
      await attempt("there", () => Deno.readTextFile("in.txt"));`;
    const end = await run(code, { allow: ["read=./data"] });
    expect(end.stderr).toBe("");
    expect(end.stdout).toBe(
      'in inside\nout NotCapable Requires read access to "../outside.txt", run again with the --allow-read=../outside.txt flag\nthere inside\n',
    );
  });

  test("every kind is refused where nothing is granted, and ffi whatever is", async () => {
    const code = `${ATTEMPT}
      await attempt("read", () => Deno.readTextFile("x.txt"));
      await attempt("write", () => Deno.writeTextFile("x.txt", ""));
      await attempt("temporary", () => Deno.makeTempFile());
      await attempt("link", () => Deno.symlink("a", "b"));
      await attempt("net", () => fetch("https://example.com/"));
      await attempt("listen", () => Deno.listen({ port: 0 }));
      await attempt("unix", () => Deno.connect({ transport: "unix", path: "/tmp/x" }));
      await attempt("env", () => Deno.env.get("CITY"));
      await attempt("all of env", () => Deno.env.toObject());
      await attempt("run", () => new Deno.Command("true").output());
      await attempt("kill", () => Deno.kill(1));
      await attempt("sys", () => Deno.hostname());
      await attempt("interfaces", () => Deno.networkInterfaces());
      await attempt("ffi", () => Deno.dlopen("libc.so.6", {}));
      await attempt("import", () => import("./oth" + "er.ts"));
      await attempt("proc", () => Deno.readTextFile("/proc/self/environ"));`;
    const { stdout, stderr } = await run(code);
    expect(stderr).toBe("");
    const names = stdout.trim().split("\n");
    expect(names).toHaveLength(16);
    for (const name of names) expect(name).toMatch(/ (NotCapable|TypeError) Requires \w+ access|^run NotFound/);
    const all = ["read", "write", "env", "run", "sys", "net"];
    const granted = await run(code, { allow: all });
    expect(granted.stdout).toContain("ffi NotCapable Requires ffi access");
    expect(granted.stdout).toContain("interfaces NotCapable");
    expect(granted.stdout).toContain("proc NotCapable");
    expect(granted.stdout).toContain("env Oslo");
    expect(granted.stdout).not.toContain("secret");
  });

  test("its decisions stand in the record before they are done, and what cannot be recorded is not done", async () => {
    await room.write("scripts/data/in.txt", "inside");
    const from = room.decisions.length;
    await run('Deno.readTextFileSync("data/in.txt"); Deno.writeTextFileSync("data/made.txt", "")', {
      allow: ["read=./data", "write=./data"],
    });
    const made = room.decisions.slice(from);
    expect(made.map(({ permission, allowed, by }) => [permission.split("=")[0], allowed, by])).toEqual([
      ["read", true, "rule"],
      ["write", true, "rule"],
    ]);
    expect(made[0]).toMatchObject({
      principal: expect.stringMatching(/^script:.*main\.ts$/),
      resolved: expect.stringContaining("data/in.txt"),
    });
    room.answerRecords(async () => fail("unavailable", "the disk is full"));
    const { stderr } = await run('Deno.writeTextFileSync("data/unrecorded.txt", "")', {
      allow: ["read=./data", "write=./data"],
    });
    room.answerRecords(async () => ({ ok: true, value: undefined }));
    expect(stderr).toContain("could not be recorded");
    expect(existsSync(join(room.folder, "scripts/data/unrecorded.txt"))).toBe(false);
  });

  test("asks an attending person about what lies in its folder, and the answer holds", async () => {
    await room.write("scripts/data/in.txt", "inside");
    await room.write("outside.txt", "outside");
    const code = `${ATTEMPT}
      await attempt("yes", () => Deno.readTextFile("data/in.txt"));
      await attempt("again", () => Deno.readTextFile("data/in.txt"));
      await attempt("no", () => Deno.writeTextFile("data/in.txt", "x"));
      await attempt("beyond", () => Deno.readTextFile("../outside.txt"));
      await attempt("sys", () => Deno.uid() >= 0);
      await attempt("run", async () => new TextDecoder().decode((await new Deno.Command("echo", { args: ["ran"] }).output()).stdout));
      await attempt("net", () => fetch("http://example.invalid/").then((response) => response.ok, () => false));`;
    const answer = ({ permission }: Question) => (permission.startsWith("write") ? "no" : "yes");
    const { stdout, stderr, asked } = await run(code, { attended: true }, answer);
    expect(stderr).toBe("");
    expect(stdout).toMatch(
      /^yes inside\nagain inside\nno NotCapable.*\nbeyond NotCapable.*\nsys true\nrun ran\n\nnet false\n$/,
    );
    expect(asked.map((permission) => permission.split("=")[0])).toEqual(["read", "write", "sys", "run", "net"]);
  });

  test("links that lead out are seen through, by the judge and by the walls", async () => {
    await room.write("outside.txt", "outside");
    await room.write("scripts/data/in.txt", "inside");
    const link = join(room.folder, "scripts/data/link.txt");
    await rm(link, { force: true });
    await symlink(join(room.folder, "outside.txt"), link);
    const code = `${ATTEMPT}
      await attempt("link", () => Deno.readTextFile("data/link.txt"));
      await attempt("write", () => Deno.writeTextFile("data/link.txt", "gone"));
      await attempt("dots", () => Deno.readTextFile("data/../../outside.txt"));`;
    const { stdout } = await run(code, { allow: ["read=./data", "write=./data"] });
    expect(stdout.match(/NotCapable/g)).toHaveLength(3);
    expect(await readFile(join(room.folder, "outside.txt"), "utf8")).toBe("outside");
  });

  test("a link that is turned between the question and the opening leads nowhere", async () => {
    await room.write("outside.txt", "outside");
    await room.write("scripts/data/in.txt", "inside");
    const turning = join(room.folder, "scripts/data/turning.txt");
    const turned = join(room.folder, "scripts/turned");
    let isOver = false;
    async function turn(): Promise<void> {
      while (!isOver) {
        for (const to of ["in.txt", join(room.folder, "outside.txt")]) {
          await symlink(to, turned);
          await rename(turned, turning);
        }
      }
      await rm(turning);
    }
    const turner = turn();
    const code = `let out = 0, inside = 0;
      for (const end = Date.now() + 1000; Date.now() < end;) {
        try { Deno.readTextFileSync("data/turning.txt") === "outside" ? out++ : inside++ } catch { /* refused or gone */ }
      }
      console.log(out, inside > 0);`;
    const { stdout } = await run(code, { allow: ["read=./data"] });
    isOver = true;
    await turner;
    expect(stdout).toBe("0 true\n");
  });

  test("what it starts is behind the same walls, another Deno without any permissions of its own included", async () => {
    await room.write("outside.txt", "outside");
    await room.write("scripts/data/in.txt", "inside");
    await room.write("scripts/inner.ts", 'console.log(Deno.readTextFileSync("../outside.txt"))');
    const code = `const run = async (env: Record<string, string>) => {
        const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: ["run", "-A", "--no-lock", "inner.ts"], clearEnv: true, env }).output();
        console.log(code, new TextDecoder().decode(stdout), new TextDecoder().decode(stderr).includes("No such file"));
      };
      await run({ DENO_DIR: "/tmp/inner", NO_COLOR: "1" });
      const { stdout } = await new Deno.Command("cat", { args: ["../outside.txt", "data/in.txt"] }).output();
      console.log(new TextDecoder().decode(stdout));`;
    const { stdout, stderr } = await run(code, { allow: ["run", "read=./data"] });
    expect(stderr).toBe("");
    expect(stdout).toBe("1  true\ninside\n");
  });

  test("another Deno that it starts asks the same broker", async () => {
    await room.write("scripts/data/in.txt", "inside");
    await room.write(
      "scripts/inner.ts",
      'console.log(Deno.readTextFileSync("data/in.txt")); Deno.readTextFileSync("inner.ts")',
    );
    const code = `const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: ["run", "-A", "--no-lock", "inner.ts"] }).output();
      console.log(code, new TextDecoder().decode(stdout), new TextDecoder().decode(stderr).includes("NotCapable"));`;
    const { stdout } = await run(code, { allow: [`run=${DENO}`, "read=./data"] });
    expect(stdout).toBe("1 inside\n true\n");
  });

  test("modules of a registry come from the cache alone where no network is granted", async () => {
    const { stderr, code } = await run('import x from "npm:nothing-of-that-name"; console.log(x)');
    expect(stderr).toContain("--cached-only is specified");
    expect(code).toBe(1);
  });

  test("a module that the person's own Deno has cached is there, and of that folder nothing else", async () => {
    const cache = join(room.folder, "cache");
    const made = join(cache, "npm/registry.npmjs.org/made-here");
    const dist = {
      tarball: "https://registry.npmjs.org/made-here/-/made-here-1.0.0.tgz",
      shasum: "0".repeat(40),
      integrity: `sha512-${"A".repeat(86)}==`,
    };
    const version = { name: "made-here", version: "1.0.0", type: "module", exports: "./index.js" };
    const registry = {
      name: "made-here",
      versions: { "1.0.0": { version: "1.0.0", dist } },
      "dist-tags": { latest: "1.0.0" },
      time: { "1.0.0": "2024-01-01T00:00:00.000Z" },
      "_deno.packumentFormat": "full",
    };
    await mkdir(join(made, "1.0.0"), { recursive: true });
    await writeFile(join(made, "registry.json"), JSON.stringify(registry));
    await writeFile(join(made, "1.0.0/package.json"), JSON.stringify(version));
    await writeFile(join(made, "1.0.0/index.js"), "export const word = 'cached';");
    await writeFile(join(cache, "other-programs-data"), "secret");
    const other = await openScriptRoom({ wanted: "auto", env: { DENO_DIR: cache }, deno: DENO });
    const file = await other.write(
      "main.ts",
      `import { word } from "npm:made-here"; console.log(word); console.log(...Array.from(Deno.readDirSync("${cache}"), ({ name }) => name));`,
    );
    const plain = {
      args: [],
      allow: [],
      deny: [],
      timeLimitMs: 0,
      memoryLimitMib: 0,
      attended: false,
      runtime: "deno",
    };
    let said = "";
    for await (const news of other.scripts.run({ ...plain, file, folder: other.folder }, NO_SIGNAL)) {
      if (news.kind === "stdout" || news.kind === "stderr") said += news.text;
    }
    await other.close();
    expect(said).toMatch(/^cached\nerror: Uncaught .*NotCapable: Requires read access/);
  });

  test.each([
    ["an endless loop", "for (;;);", { timeLimitMs: 2500 }, /longer than 2500 ms/],
    [
      "a memory bomb",
      "const a = []; for (let i = 0; ; i++) a.push(new Array(1e6).fill(i + 0.5));",
      { memoryLimitMib: 64 },
      /out of memory|killed/i,
    ],
  ])("%s is ended", async (_what, code, more, why) => {
    const end = await run(code, more);
    expect(end.stderr).toMatch(why);
    expect(end.code).not.toBe(0);
  });

  test("it hears of its interruption, and is gone afterwards", async () => {
    const file = await room.write("scripts/waits.ts", 'console.log("up"); setInterval(() => {}, 1000)');
    const stop = new AbortController();
    const plain = {
      args: [],
      allow: [],
      deny: [],
      timeLimitMs: 0,
      memoryLimitMib: 0,
      attended: false,
      runtime: "deno",
    };
    const news: ScriptNews[] = [];
    for await (const one of room.scripts.run({ ...plain, file, folder: room.folder }, stop.signal)) {
      if (one.kind !== "stdout" && one.kind !== "exit") continue;
      news.push(one);
      stop.abort();
    }
    expect(news).toEqual([
      { kind: "stdout", text: "up\n" },
      { kind: "exit", code: 130 },
    ]);
  });

  /** Runs it as a client that pipes its own input into it, in pieces, and tells it signals when it prints "up". */
  async function runFed(
    code: string,
    { pieces = [], signals = [], ...more }: Partial<ScriptRequest> & { pieces?: string[]; signals?: string[] },
  ) {
    const file = await room.write("scripts/fed.ts", code);
    const plain = { args: [], allow: [], deny: [], timeLimitMs: TIME_LIMIT_MS, memoryLimitMib: 0, attended: false };
    const wish = { ...plain, file, folder: join(room.folder, "scripts"), runtime: "deno", ...more };
    const end = { stdout: "", stderr: "", code: Number.NaN, wanted: 0 };
    const waiting = [...pieces];
    let isUp = false;
    let runId = "";
    function send(): void {
      if (!isUp || runId === "") return;
      for (const signal of signals.splice(0)) {
        room.scripts.feed({ runId, data: new Uint8Array(0), end: false, signal });
      }
    }
    for await (const news of room.scripts.run(wish, NO_SIGNAL)) {
      if (news.kind === "exit") end.code = news.code;
      else if (news.kind === "stdout" || news.kind === "stderr") end[news.kind] += news.text;
      else if (news.kind === "signals") runId = news.runId;
      else if (news.kind === "input") {
        end.wanted += 1;
        const data = Buffer.from(waiting.shift() ?? "");
        room.scripts.feed({ runId: news.runId, data, end: data.length === 0, signal: "" });
      }
      isUp ||= end.stdout.includes("up");
      send();
    }
    return end;
  }

  test("reads what is piped into it, to its end", async () => {
    const code = "console.log(Deno.stdin.isTerminal(), (await new Response(Deno.stdin.readable).text()).length);";
    const pieces = ["one\n", "x".repeat(300_000), "two"];
    expect(await runFed(code, { pieces })).toEqual({ stdout: "false 300007\n", stderr: "", code: 0, wanted: 4 });
  });

  test("need not read what is piped into it, however much that is, nor all of it", async () => {
    const pieces = Array.from({ length: 50 }, () => "y".repeat(60_000));
    const ignored = await runFed('console.log("done")', { pieces });
    expect(ignored).toMatchObject({ stdout: "done\n", stderr: "", code: 0 });
    expect(ignored.wanted).toBeLessThan(20);
    const code = "const [one] = [await Deno.stdin.read(new Uint8Array(3))]; Deno.stdin.close(); console.log(one);";
    expect(await runFed(code, { pieces })).toMatchObject({ stdout: "3\n", stderr: "", code: 0 });
  });

  test("of a terminal it is given nothing, because it cannot say when it reads", async () => {
    const terminals = { stdin: true, stdout: true, stderr: true };
    const code = "console.log(await Deno.stdin.read(new Uint8Array(3)))";
    expect(await runFed(code, { terminals })).toEqual({ stdout: "null\n", stderr: "", code: 0, wanted: 0 });
  });

  test.each([
    ["SIGINT", 130, []],
    ["SIGTERM", 143, []],
    ["SIGINT", 130, ["net=example.com"]],
  ])("%s reaches it, and ends one that does not listen with %i (%j)", async (signal, code, allow) => {
    const listens = `Deno.addSignalListener("${signal}", () => { console.log("heard"); Deno.exit(5) });
      console.log("up"); setInterval(() => {}, 1000);`;
    expect(await runFed(listens, { signals: [signal], allow })).toMatchObject({ stdout: "up\nheard\n", code: 5 });
    const deaf = 'console.log("up"); setInterval(() => {}, 1000);';
    expect(await runFed(deaf, { signals: [signal], allow })).toMatchObject({ stdout: "up\n", stderr: "", code });
  });

  test("has the import map that is named, or the deno.json beside it, of its own folder alone", async () => {
    await room.write("scripts/words/one.ts", 'export const word = "mapped";');
    await room.write("scripts/words/map.json", '{ "imports": { "word": "./one.ts" } }');
    await room.write("map.json", '{ "imports": { "word": "./scripts/words/one.ts" } }');
    await room.write("out.ts", 'export const word = "outside";');
    await room.write("scripts/leads-out.json", '{ "imports": { "word": "../out.ts" } }');
    const code = 'import { word } from "word"; console.log(word);';
    const mapped = (path: string, more: Partial<ScriptRequest> = {}) =>
      run(code, { importMap: join(room.folder, path), ...more });
    const from = room.decisions.length;
    expect(await mapped("scripts/words/map.json")).toMatchObject({ stdout: "mapped\n", stderr: "", code: 0 });
    expect(room.decisions.slice(from)).toEqual([]);
    expect(await mapped("map.json")).toMatchObject({ stderr: expect.stringContaining("is no part of the program") });
    expect(await mapped("scripts/none.json")).toMatchObject({
      stderr: expect.stringContaining("there is no import map"),
    });
    expect(await mapped("scripts/words")).toMatchObject({ stderr: expect.stringContaining("is no file") });
    const deny = ["read=./words/map.json"];
    expect(await mapped("scripts/words/map.json", { deny })).toMatchObject({
      stderr: expect.stringContaining("a --deny-read covers it"),
      code: 1,
    });
    const out = await mapped("scripts/leads-out.json");
    expect(out).toMatchObject({ stdout: "", code: 1 });
    expect(out.stderr).toMatch(/Module not found|NotCapable|Cannot find/);
    await rm(join(room.folder, "scripts/link.json"), { force: true });
    await symlink("../map.json", join(room.folder, "scripts/link.json"));
    expect(await mapped("scripts/link.json")).toMatchObject({ stdout: "", code: 1 });
    await room.write("scripts/deno.json", '{ "imports": { "word": "./words/one.ts" } }');
    const beside = await run(code);
    await rm(join(room.folder, "scripts/deno.json"));
    expect(beside).toMatchObject({ stdout: "mapped\n", stderr: "", code: 0 });
  });

  test("a home is no program's folder: a file in it has its deno.json, and nothing else of it", async () => {
    const home = join(room.folder, "home");
    const other = await openScriptRoom({ wanted: "auto", env: { HOME: home }, deno: DENO });
    await room.write("home/deno.json", '{ "imports": { "word": "./words.ts" } }');
    await room.write("home/words.ts", 'export const word = "mapped";');
    const file = await room.write("home/main.ts", 'import { word } from "word"; console.log(word);');
    const plain = { args: [], allow: [], deny: [], timeLimitMs: 0, memoryLimitMib: 0, attended: false };
    const said = async (more: Partial<ScriptRequest>) => {
      let text = "";
      for await (const news of other.scripts.run({ ...plain, file, folder: home, runtime: "deno", ...more }, NO_SIGNAL))
        if (news.kind === "stdout" || news.kind === "stderr") text += news.text;
      return text;
    };
    const [alone, granted] = [await said({}), await said({ allow: ["read=words.ts"] })];
    await other.close();
    expect(alone).toContain("Module not found");
    expect(granted).toBe("mapped\n");
  });

  test("a Deno that is not there, or is no Deno, is said so", async () => {
    for (const [deno, why] of [
      ["deno-of-nobody", /was not found/],
      ["/bin/true", /which version/],
    ] as const) {
      const other = await openScriptRoom({ wanted: "auto", env: {}, deno });
      const file = await other.write("main.ts", "");
      const plain = {
        args: [],
        allow: [],
        deny: [],
        timeLimitMs: 0,
        memoryLimitMib: 0,
        attended: false,
        runtime: "deno",
      };
      const news: ScriptNews[] = [];
      for await (const one of other.scripts.run({ ...plain, file, folder: other.folder }, NO_SIGNAL)) news.push(one);
      await other.close();
      expect(news).toEqual([
        { kind: "stderr", text: expect.stringMatching(why) },
        { kind: "exit", code: 1 },
      ]);
    }
  });

  test("reaches by the proxy what is granted, and nothing else; the record says what was dialled and refused", async () => {
    const server = createServer((_request, response) => response.end("from the net")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const code = `${ATTEMPT}
      await attempt("granted", async () => (await fetch("http://127.0.0.1:${port}/")).text());
      await attempt("refused", () => fetch("http://127.0.0.1:${port + 1}/"));
      await attempt("raw", () => Deno.connect({ hostname: "127.0.0.1", port: ${port} }));`;
    const { stdout } = await run(code, { allow: [`net=127.0.0.1:${port}`] });
    server.close();
    expect(stdout).toMatch(/^granted from the net\nrefused NotCapable.*\nraw ConnectionRefused.*\n$/);
  });

  test("a name that is granted opens no private address behind it", async () => {
    const server = createServer((_request, response) => response.end("secret")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const from = room.decisions.length;
    const code = `${ATTEMPT} await attempt("name", async () => (await fetch("http://${hostname()}:${port}/")).status);`;
    const { stdout } = await run(code, { allow: ["net"] });
    server.close();
    expect(stdout).not.toContain("200");
    expect(room.decisions.slice(from).at(-1)).toMatchObject({ allowed: false });
  });

  test("a worker that was given less by the program is given what the program has: Deno asks for both alike", async () => {
    await room.write("scripts/data/in.txt", "inside");
    await room.write("scripts/deno.json", '{ "unstable": ["worker-options"] }');
    await room.write("scripts/worker.ts", 'postMessage(Deno.readTextFileSync("data/in.txt"))');
    const code = `const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", deno: { permissions: "none" } });
      worker.onmessage = ({ data }) => { console.log(data); worker.terminate() };`;
    const { stdout } = await run(code, { allow: ["read=."] });
    await rm(join(room.folder, "scripts/deno.json"));
    expect(stdout).toBe("inside\n");
  });

  const GRANTS: readonly Partial<ScriptRequest>[] = [
    {},
    { allow: ["read=./data"] },
    { allow: ["read"], deny: ["read=./data/no.txt"] },
    { allow: ["read=./data", "write=./data"], deny: ["write=./data/in.txt"] },
    { allow: ["read=./data/in.txt", "env=CITY", "sys=hostname"] },
    { allow: ["env", "sys"], deny: ["env=CITY"] },
    { allow: ["read=..", "write=./data/no.txt"] },
  ];

  test.each(GRANTS)("our own runtime decides the same under %j", async (grant) => {
    await room.write("outside.txt", "outside");
    await room.write("scripts/data/no.txt", "no");
    await room.write("scripts/data/in.txt", "inside");
    await rm(join(room.folder, "scripts/data/link.txt"), { force: true });
    await symlink(join(room.folder, "outside.txt"), join(room.folder, "scripts/data/link.txt"));
    const code = `const attempt = async (name: string, work: () => unknown) => {
        try { await work(); console.log(name, "ok") } catch (error) { console.log(name, (error as Error).name) }
      };
      for (const path of ["data/in.txt", "data/no.txt", "data/link.txt", "./data/../data/in.txt", "../outside.txt", "/etc/passwd", "data/none.txt", "/proc/self/environ"]) {
        await attempt("read " + path, () => Deno.readTextFile(path));
        await attempt("stat " + path, () => Deno.stat(path));
      }
      for (const path of ["data/in.txt", "data/no.txt", "data/link.txt", "../outside.txt", "data/new.txt"]) {
        await attempt("write " + path, () => Deno.writeTextFile(path, "x"));
      }
      await attempt("env", () => Deno.env.get("CITY"));
      await attempt("key", () => Deno.env.get("API_KEY"));
      await attempt("host", () => Deno.hostname());`;
    const [deno, isolate] = [await run(code, grant), await run(code, { ...grant, runtime: "isolate" })];
    await rm(join(room.folder, "scripts/data/new.txt"), { force: true });
    expect(deno.stderr + isolate.stderr).toBe("");
    expect(deno.stdout).toBe(isolate.stdout);
  });
});
