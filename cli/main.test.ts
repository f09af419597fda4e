import { spawnSync } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

let folder: string;
let client: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "claw-main-"));
  await build({
    entryPoints: { claw: "cli/main.ts" },
    outdir: join(folder, "dist"),
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node24",
    logLevel: "silent",
  });
  await copyFile("package.json", join(folder, "package.json"));
  client = join(folder, "dist", "claw.js");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function claw(argv: readonly string[], more: { input?: string; env?: Record<string, string>; cwd?: string } = {}) {
  const env = { PATH: process.env.PATH, HOME: folder, CLAWD_HOME: join(folder, "home"), ...more.env };
  const ran = spawnSync(process.execPath, [client, ...argv], {
    env,
    cwd: more.cwd ?? folder,
    input: more.input ?? "",
    encoding: "utf8",
    timeout: 30_000,
  });
  return { exit: ran.status, out: ran.stdout, err: ran.stderr };
}

test.each([
  [["frobnicate"], "there is no command"],
  [["say", "x", "--frob"], "has no flag --frob"],
  [["say"], "needs a text"],
  [["chat"], "nothing was piped in"],
  [["attach", "s", "--after", "-1"], "--after takes a whole number"],
  [["attach", "s", "--after=99999999999"], "--after takes a whole number"],
  [["run", "--allow-red", "a.ts"], "did you mean --allow-read?"],
  [["run", "--allow-read=", "a.ts"], "names nothing"],
  [["run", "-A", "a.ts"], "--allow-all is not offered: nothing would be confined"],
  [["run", "--allow-ffi", "a.ts"], "--allow-ffi is not offered"],
  [["run", "-I=example.com", "a.ts"], "--allow-import is not offered"],
  [["run", "--deny-all", "a.ts"], "--deny-all is not offered"],
  [["run", "--time-limit=soon", "a.ts"], "write it as 500ms, 60s, 5m or 1h"],
  [["run", "--time-limit=0", "a.ts"], "is no length of time"],
  [["run", "--time-limit=99999h", "a.ts"], "is no length of time"],
  [["run", "--memory-limit=128MB", "a.ts"], "is no number of MiB"],
  [["run", "--memory-limit=0", "a.ts"], "is no number of MiB"],
  [["hook", "test", "h", "--value", "{"], "--value is no JSON"],
  [[], "claw COMMAND"],
])("claw %j exits 2, with a text on stderr and nothing on stdout", (argv, text) => {
  const { exit, out, err } = claw(argv);
  expect({ exit, out }).toEqual({ exit: 2, out: "" });
  expect(err).toContain(text);
});

test("help and version are data", () => {
  expect(claw(["--help"])).toMatchObject({ exit: 0, err: "" });
  expect(claw(["help", "say"]).out).toContain("--session ID");
  expect(claw(["--version"]).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("a daemon that cannot be started is exit 4, also for doctor's first row", () => {
  // Only the client was bundled here: there is no daemon beside it.
  const said = claw(["say", "hello"]);
  expect(said).toMatchObject({ exit: 4, out: "" });
  expect(said.err).toContain("ended with exit code 1");
  const doctor = claw(["doctor", "--json"]);
  expect(doctor.exit).toBe(1);
  const checks = doctor.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(checks[0]).toMatchObject({ name: "daemon", ok: false });
  expect(checks.map((check) => check.name)).toEqual(["daemon", "node", "home", "config"]);
});

test("a folder that was removed under one's feet is said, and where to go", async () => {
  const words = `mkdir gone && cd gone && rmdir ../gone && exec "$0" "$1" status`;
  const ran = spawnSync("sh", ["-c", words, process.execPath, client], { cwd: folder, encoding: "utf8" });
  expect(ran.stderr).toBe("claw: the folder that you are in is not there any more\n  → go to another one: cd\n");
  expect(ran.status).toBe(1);
});

test("down without a daemon is done already", () => {
  expect(claw(["down", "--json"])).toMatchObject({ exit: 0, out: '{"stopped":false,"pid":0}\n' });
});

test("init writes a private config once and never over one that is there", async () => {
  const env = { CLAWD_HOME: join(folder, "fresh") };
  expect(JSON.parse(claw(["init", "--json"], { env }).out)).toMatchObject({ written: true });
  const config = join(folder, "fresh", "config.toml");
  expect((await stat(config)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, "fresh"))).mode & 0o777).toBe(0o700);
  const before = await readFile(config, "utf8");
  expect(JSON.parse(claw(["init", "--json"], { env }).out)).toMatchObject({ written: false });
  expect(await readFile(config, "utf8")).toBe(before);
});

test("the entry parses on an old node: what it needs from newer ones lies behind the version check", async () => {
  const entry = await readFile(client, "utf8");
  expect(entry).not.toMatch(/import .*"node:(http|sqlite|module)"/);
  expect(entry.length).toBeLessThan(4_000);
});
