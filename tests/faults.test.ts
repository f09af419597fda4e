import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Bench, dial, eventually, openBench, processesWith, startDaemon } from "./kit/claw.ts";

const benches: Bench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.close();
});

async function faultBench(files: Readonly<Record<string, string>> = {}): Promise<Bench> {
  const bench = await openBench();
  benches.push(bench);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(bench.home, path, ".."), { recursive: true });
    await writeFile(join(bench.home, path), text);
  }
  await writeFile(join(bench.workspace, "notes.md"), "The engine weaves.\n");
  return bench;
}

const status = async (bench: Bench) => JSON.parse((await bench.claw("status", "--json")).stdout);

test("a broken config is named with line and key, and the last good one stays in force", async () => {
  const bench = await faultBench({ "config.toml": "[limits]\nattended_steps = 2\n" });
  expect((await status(bench)).problems).toEqual([]);
  await bench.claw("down");
  await writeFile(join(bench.home, "config.toml"), '[limits]\nattended_steps = "many"\n');
  const { problems } = await status(bench);
  expect(problems[0].message).toMatch(
    /config\.toml line 2: limits\.attended_steps must be a whole number.*last good one is in force/,
  );
  const said = await bench.claw("say", "read notes.md then list . then read notes.md then list .");
  expect(said.code).toBe(1);
  expect(said.stderr).toContain("2 model calls");
  expect((await bench.claw("doctor")).stdout).toContain("attended_steps");
});

test("a config that is not TOML, and a key that nobody knows, are named too", async () => {
  const bench = await faultBench({ "config.toml": "[limits\n" });
  expect((await status(bench)).problems[0].message).toMatch(/line 1/);
  await bench.claw("down");
  await writeFile(join(bench.home, "config.toml"), '[policy]\nalow = ["read"]\n');
  const [problem] = (await status(bench)).problems;
  expect(problem.message).toMatch(/line 2: nobody knows the key policy\.alow/);
  expect(problem.hint).toContain("policy.allow");
});

test("a broken hook and a broken manifest are named, and everything else runs", async () => {
  const bench = await faultBench({
    "hooks/odd.ts": "/** @hook at=tool.befor */\nexport default async () => {};\n",
    "hooks/torn.ts": "/** @hook at=tool.after */\nexport default async () => {\n",
    "plugins/broken/plugin.json": '{ "manifestVersion": 1, "name": "broken", "toolz": [] }',
  });
  const { hooks, plugins } = await status(bench);
  expect(hooks.map((hook: { name: string }) => hook.name).sort()).toEqual(["odd", "torn"]);
  expect(JSON.stringify(hooks)).toContain("tool.before");
  expect(JSON.stringify(plugins)).toMatch(/toolz.*tools/);
  const doctor = await bench.claw("doctor");
  expect(doctor.stdout).toContain("odd");
  expect(doctor.stdout).toContain("toolz");
  // What it should guard is not known, so it guards every call until it is mended.
  const guarded = await bench.claw("say", "read notes.md");
  expect(`${guarded.stdout}${guarded.stderr}`).toContain("Critical hook 'odd' failed");
  await bench.claw("hook", "remove", "odd");
  expect(await bench.claw("say", "read notes.md")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("engine weaves"),
  });
});

test("a tool that is refused is guided, and does not change the exit code", async () => {
  const bench = await faultBench();
  const said = await bench.claw("say", "run echo hello");
  expect(said.code).toBe(0);
  expect(`${said.stdout}${said.stderr}`).toContain("--allow");
  expect(await bench.claw("say", "run echo hello", "--allow", "shell:echo *")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("hello"),
  });
});

test("a policy of the owner denies also those who allow everything", async () => {
  const bench = await faultBench({ "config.toml": '[policy]\ndeny = ["shell:*secret*"]\n' });
  const said = await bench.claw("say", "run cat secret.txt", "--yolo");
  expect(`${said.stdout}${said.stderr}`).toContain("deny");
  const [file = ""] = await readdir(join(bench.home, "sessions"));
  expect(await readFile(join(bench.home, "sessions", file), "utf8")).not.toContain('"toolCallStarted"');
});

test("kill -9 of the hook process and of a plugin costs one verdict or one call, and leaves nobody behind", {
  timeout: 60_000,
}, async () => {
  const bench = await faultBench({ "hooks/watch.ts": "/** @hook at=tool.after */\nexport default async () => {};\n" });
  const hello = join(import.meta.dirname, "../plugins-examples/hello");
  expect(await bench.claw("plugin", "install", hello, "--yes", "--trust")).toMatchObject({ code: 0 });
  const greet = () => bench.claw("say", 'call plugin_hello_greet {"name":"Ada"}', "--yolo");
  expect(await greet()).toMatchObject({ code: 0, stdout: expect.stringContaining("Ada") });
  const daemon = await bench.pid();
  const { plugins } = await status(bench);
  for (const child of childrenOf(daemon)) process.kill(child, "SIGKILL");
  expect(plugins[0].pid).toBeGreaterThan(0);
  const again = await eventually(greet, (said) => said.stdout.includes("Ada"), "the plugin's return");
  expect(again.code).toBe(0);
  expect(await bench.pid()).toBe(daemon);
  process.kill(daemon, "SIGKILL");
  await eventually(
    () => processesWith(bench.home),
    (left) => left.length === 0,
    "the end of every child",
  );
});

function childrenOf(pid: number): readonly number[] {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
  return stdout
    .split("\n")
    .map(Number)
    .filter((child) => child > 0);
}

const canMount = process.getuid?.() === 0 && tryMount();
if (!canMount) console.log("skipped: the full disk (mounting a small tmpfs needs root)");

function tryMount(): boolean {
  const { status: made, stdout } = spawnSync("mktemp", ["-d"], { encoding: "utf8" });
  const folder = stdout.trim();
  if (made !== 0) return false;
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]).status === 0;
  if (mounted) spawnSync("umount", [folder]);
  spawnSync("rmdir", [folder]);
  return mounted;
}

test.skipIf(!canMount)(
  "on a full disk the turn fails with “exhausted”, and the session is intact when there is room again",
  async () => {
    const bench = await faultBench();
    const sessions = join(bench.home, "sessions");
    await mkdir(sessions, { recursive: true });
    expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=160k", "tmpfs", sessions]).status).toBe(0);
    try {
      expect(await bench.claw("say", "read notes.md")).toMatchObject({ code: 0 });
      const [file = ""] = await readdir(sessions);
      const id = file.replace(".jsonl", "");
      const filler = join(sessions, "filler");
      for (let kib = 128; kib > 0; kib = Math.floor(kib / 2)) {
        spawnSync("sh", ["-c", 'head -c "$1" /dev/zero >> "$2"', "sh", String(kib * 1024), filler]);
      }
      const failed = await bench.claw("say", "--session", id, `read notes.md ${"and so on ".repeat(2000)}`);
      expect(failed.code).not.toBe(0);
      expect(failed.stderr).toMatch(/disk|space|full/i);
      await rm(filler);
      expect(await bench.claw("audit", "verify", id)).toMatchObject({ code: 0 });
      expect(await bench.claw("say", "--session", id, "read notes.md")).toMatchObject({ code: 0 });
    } finally {
      await bench.claw("down");
      spawnSync("umount", [sessions]);
    }
  },
);

test("wrong usage is told with the nearest right word, and starts nothing", async () => {
  const bench = await faultBench();
  expect(await bench.claw("stauts")).toMatchObject({ code: 2, stderr: expect.stringContaining("status") });
  expect(await bench.claw("say", "x", "--yollo")).toMatchObject({ code: 2, stderr: expect.stringContaining("--yolo") });
  expect(await readdir(bench.home)).not.toContain("clawd.sock");
});

test("what the daemon refuses is exit 3, a daemon that cannot start is exit 4", async () => {
  const bench = await faultBench();
  expect(await bench.claw("say", "x", "--session", "nobody")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("nobody"),
  });
  expect(await bench.claw("say", "x", "--model", "openai/gpt")).toMatchObject({ code: 3 });
  await bench.claw("down");
  const file = join(await mkdtemp(join(tmpdir(), "clawd-nohome-")), "file");
  await writeFile(file, "");
  const nowhere = await openBench({ CLAWD_HOME: join(file, "home") });
  expect(await nowhere.claw("say", "x")).toMatchObject({ code: 4 });
  await rm(nowhere.workspace, { recursive: true });
});

test("a client that reads nothing holds up nobody", async () => {
  const bench = await faultBench();
  await startDaemon(bench.env);
  const { sessions } = dial(bench.home);
  const { sessionId } = await sessions.openSession({ workspace: bench.workspace });
  const stop = new AbortController();
  const lazy = sessions.subscribe({ sessionId, follow: true }, { signal: stop.signal })[Symbol.asyncIterator]();
  await lazy.next();
  for (let index = 0; index < 5; index += 1) {
    expect(
      await bench.claw("say", "--session", sessionId, "read notes.md then list . then read notes.md"),
    ).toMatchObject({ code: 0 });
  }
  stop.abort();
});
