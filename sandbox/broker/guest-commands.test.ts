import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, unlinkSync } from "node:fs";
import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { CommandAnswer, CommandOrder } from "../guest/guest-protocol.ts";
import { type BrokerBench, bare, boxed, openBrokerBench } from "./fixtures/broker-bench.ts";

const isBoxed = boxed.level === "bubblewrap";
if (!isBoxed) console.warn(`commands in a sandbox are not tested: ${boxed.detail}`);

const open: BrokerBench[] = [];

async function bench(options: Parameters<typeof openBrokerBench>[0]): Promise<BrokerBench> {
  const made = await openBrokerBench({ launcher: boxed, env: { PATH: "/usr/bin:/bin" }, ...options });
  open.push(made);
  return made;
}

afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

type Ran = { code: number; signal: string | null; out: string; err: string };

function order(program: string, args: string[] = [], more: Partial<CommandOrder> = {}): CommandOrder {
  return { program, args, cwd: null, env: {}, clearEnv: false, stdin: null, ...more };
}

/** What it printed, or the text of the error. */
async function run(room: BrokerBench, ...wanted: Parameters<typeof order>): Promise<Ran | string> {
  const answer = await room.call("command", order(...wanted));
  if (typeof answer === "string") return answer;
  const { code, signal, stdout, stderr } = answer as unknown as CommandAnswer;
  return { code, signal, out: atob(stdout), err: atob(stderr) };
}

const shell = (line: string): [string, string[]] => ["sh", ["-c", line]];

describe.skipIf(!isBoxed)("a command in the sandbox", () => {
  test("runs without a shell, reads its input, and gives code and output", async () => {
    const room = await bench({ allow: ["run=echo,cat,sh"] });
    expect(await run(room, "echo", ["$HOME;", "a b"])).toEqual({ code: 0, signal: null, out: "$HOME; a b\n", err: "" });
    expect(await run(room, "cat", [], { stdin: btoa("in\0put") })).toMatchObject({ out: "in\0put" });
    expect(await run(room, ...shell("echo no >&2; exit 3"))).toMatchObject({ code: 3, err: "no\n" });
    expect(await run(room, ...shell("kill -9 $$"))).toMatchObject({ code: 137 });
    expect(room.capabilities.hadEffect).toBe(true);
  });

  test("cannot rename a folder to have what is denied in it under another name", async () => {
    const room = await bench({
      allow: ["run=sh", "read=w", "write=w"],
      deny: ["read=w/a/b/secret", "write=w/c/d/kept"],
      files: { "w/a/b/secret/s": "canary", "w/c/d/kept/k": "old", "w/e/x": "x" },
    });
    await run(room, ...shell(`cd ${room.root}/w; mv a a2; mv a/b a/b2; mv c c2; mv c/d c/d2; mv e e2`));
    expect(readdirSync(room.path("w")).sort()).toEqual(["a", "c", "e2"]);
    const line = `cd ${room.root}/w; cat */*/secret/s; echo new > c/d/kept/k; echo new > c/d/k2; cat c/d/k2`;
    expect(await run(room, ...shell(line))).toMatchObject({ out: "new\n" });
    expect(readFileSync(room.path("w/c/d/kept/k"), "utf8")).toBe("old");
  });

  test("sees what the guest may read, writes where it may write and read, and nothing else", async () => {
    const room = await bench({
      allow: ["run=sh", "read=in,out", "write=out,blind"],
      deny: ["read=in/secret", "write=out/kept"],
      files: { "in/a": "seen", "in/secret/s": "canary", "out/kept/k": "old", "other/o": "canary", "blind/b": "canary" },
      protectedWrite: (path) => (path.includes(".git") ? "git runs what lies there" : undefined),
    });
    mkdirSync(room.path("out/.git"));
    const line = `cd ${room.root}; cat in/a; cat in/secret/s; cat other/o; cat blind/b; cat /etc/passwd; cat /root/.bashrc; ls /root;
      echo new > out/n; echo new > in/n; echo new > out/kept/k; echo new > out/.git/config; echo new > blind/n; true`;
    const ran = (await run(room, ...shell(line))) as Ran;
    expect(ran.out).toBe("seen");
    expect(readdirSync(room.path("out")).sort()).toEqual([".git", "kept", "n"]);
    expect(readdirSync(room.path("out/.git"))).toEqual([]);
    expect(readdirSync(room.path("in")).sort()).toEqual(["a", "secret"]);
    expect(readdirSync(room.path("blind"))).toEqual(["b"]);
    expect(await run(room, "sh", ["-c", "cat out/kept/k"], { cwd: "." })).toMatch(
      /^NotCapable: Requires read access to "."/,
    );
  });

  test("does not see the daemon's own data under a grant for all", async () => {
    const probe = await bench({ files: { "home/token": "canary" } });
    const room = await bench({ allow: ["run", "read", "write"], hidden: [probe.path("home")] });
    const ran = (await run(
      room,
      ...shell(`cat ${probe.path("home/token")}; ls ${probe.path("home")}; echo end`),
    )) as Ran;
    expect(ran.out).toBe("end\n");
  });

  test("has no network unless some is granted", async () => {
    const server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const connect = `const s=require("net").connect(${port},"127.0.0.1");s.on("data",d=>console.log(String(d)));s.on("error",()=>console.log("no way"))`;
    try {
      const room = await bench({ allow: [`run=${process.execPath}`] });
      expect(await run(room, process.execPath, ["-e", connect])).toMatchObject({ out: "no way\n" });
    } finally {
      server.close();
    }
  });

  test("gets a clean environment, and what is granted of ours", async () => {
    const env = { PATH: "/usr/bin:/bin", MINE: "granted", API_TOKEN: "secret", LD_PRELOAD: "x", OTHER: "y" };
    const room = await bench({ allow: ["run=env", "env=MINE,LD_PRELOAD"], env });
    const ran = (await run(room, "env", [], { env: { GIVEN: "1" } })) as Ran;
    expect(ran.out).toContain("MINE=granted");
    expect(ran.out).toContain("GIVEN=1");
    expect(ran.out).not.toMatch(/API_TOKEN|OTHER|LD_PRELOAD|CLAWD/);
    const cleared = (await run(room, "env", [], { env: { GIVEN: "1" }, clearEnv: true })) as Ran;
    expect(cleared.out).not.toMatch(/MINE|HOME/);
    for (const name of ["LD_PRELOAD", "ld_library_path", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS"]) {
      expect(await run(room, "env", [], { env: { [name]: "x" } })).toMatch(/^NotCapable: .*makes programs load code/);
    }
    expect(await run(room, "env", [], { env: { "A=B": "x" } })).toMatch(/^TypeError/);
  });

  test("is killed when it is given up, and when it prints without end", async () => {
    const room = await bench({ allow: ["run=sleep,yes"] });
    const sleeping = room.capabilities.call(77, "command", order("sleep", ["600"]));
    await expect.poll(() => room.capabilities.hadEffect).toBe(true);
    await room.raw("abort", { call: 77 });
    expect(await sleeping).toMatchObject({ ok: false, error: { name: "Interrupted" } });
    expect(await run(room, "yes")).toMatch(/^Error: 'yes' printed more than 4194304 bytes/);
    const more = room.capabilities.call(78, "command", order("sleep", ["600"]));
    await expect.poll(() => room.decisions.length).toBe(3);
    room.capabilities.close();
    expect(await more).toMatchObject({ ok: false, error: { name: "Interrupted" } });
  });
});

test("a program runs when it is granted, is where it was and is the same file", async () => {
  const room = await bench({
    allow: ["run=tools/one,tools/alias", "read", "write", "net"],
    deny: ["run=false"],
    files: { "tools/one": "#!/bin/sh\necho one\n", "tools/two": "#!/bin/sh\necho two\n" },
    links: { "tools/alias": "one" },
  });
  for (const name of ["tools/one", "tools/two"]) chmodSync(room.path(name), 0o755);
  expect(await run(room, "ls")).toBe('NotCapable: Requires run access to "ls", run again with the --allow-run=ls flag');
  expect(await run(room, "/bin/ls")).toMatch(/^NotCapable/);
  expect(await run(room, "tools/two")).toMatch(/^NotCapable/);
  expect(await run(room, "false")).toMatch(
    /^NotCapable: Requires run access to "false", which the --deny-run flag forbids/,
  );
  expect(await run(room, "no-such-program")).toMatch(/^NotCapable/);
  unlinkSync(room.path("tools/alias"));
  symlinkSync("two", room.path("tools/alias"));
  expect(await run(room, "tools/alias")).toMatch(
    /^NotCapable: Requires run access to all that "tools\/alias" leads to/,
  );
  expect(room.decisions.at(-1)).toMatchObject({
    allowed: false,
    because: "the file was exchanged since it was granted",
  });
});

test("what is granted but not there is not found, and neither is its folder", async () => {
  const room = await bench({ allow: ["run=no-such-program,echo", "read=."], launcher: boxed });
  expect(await run(room, "no-such-program")).toBe("NotFound: Failed to spawn 'no-such-program': entity not found");
  expect(await run(room, "")).toMatch(/^NotFound/);
  expect(await run(room, "echo", [], { cwd: "none" })).toBe("NotFound: Failed to spawn 'echo': No such cwd 'none'");
  expect(await run(room, "echo", ["a\0b"])).toMatch(/^TypeError/);
});

test("without an OS sandbox commands run only for who may do everything that one would forbid", async () => {
  const narrow = await bench({ launcher: bare, allow: ["run=echo", "read=."] });
  expect(await run(narrow, "echo", ["hi"])).toMatch(
    /^NotCapable: Requires an OS sandbox to run "echo" under this grant/,
  );
  expect(narrow.decisions).toMatchObject([{ allowed: false, because: "there is no OS sandbox to hold it" }]);
  const wide = await bench({ launcher: bare, allow: ["run=echo", "read", "write", "net"] });
  expect(await run(wide, "echo", ["hi"])).toMatchObject({ code: 0, out: "hi\n" });
  const almost = await bench({ launcher: bare, allow: ["run=echo", "read", "write", "net"], deny: ["read=in"] });
  expect(await run(almost, "echo", ["hi"])).toMatch(/^NotCapable/);
});
