import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { done } from "../../tests/contracts/journal.ts";
import { lockHome } from "./home-lock.ts";

const lockModule = JSON.stringify(join(import.meta.dirname, "home-lock.ts"));

/** Takes the lock at the word "go", says how that went, and holds it until its stdin ends. */
const RIVAL = `
  import { lockHome } from ${lockModule};
  process.stdin.once("data", () => {
    const lock = lockHome(process.argv[1], process.pid);
    console.log(lock.ok ? "won" : lock.failure.code + ": " + lock.failure.message);
    process.stdin.resume();
  });
  console.log("ready");
`;

type Rival = { readonly child: ChildProcessWithoutNullStreams; readonly lines: AsyncIterator<string>; stderr: string };

let home: string;
let rivals: Rival[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "home-"));
});

afterEach(async () => {
  for (const { child } of rivals) child.kill("SIGKILL");
  rivals = [];
  await rm(home, { recursive: true, force: true });
});

async function rival(): Promise<Rival> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", RIVAL, home]);
  const one: Rival = { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), stderr: "" };
  child.stderr.on("data", (text) => {
    one.stderr += String(text);
  });
  rivals.push(one);
  expect((await one.lines.next()).value).toBe("ready");
  return one;
}

async function tryLock({ child, lines }: Rival): Promise<string> {
  child.stdin.write("go\n");
  return String((await lines.next()).value);
}

test("of several processes that race for a folder exactly one wins, and the others name it", async () => {
  const racers = await Promise.all([rival(), rival(), rival(), rival()]);
  const outcomes = await Promise.all(racers.map(tryLock));
  const winner = racers[outcomes.indexOf("won")];
  const refusal = `conflict: ${home} is in use by clawd with pid ${winner?.child.pid}`;
  expect(outcomes.sort()).toEqual([refusal, refusal, refusal, "won"]);
});

test("the lock of a killed process is gone with it, and its pid is not taken for a holder's", async () => {
  const first = await rival();
  expect(await tryLock(first)).toBe("won");
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  expect(existsSync(join(home, "clawd.pid"))).toBe(true);
  const second = await rival();
  expect(await tryLock(second)).toBe("won");
  expect(lockHome(home, process.pid)).toMatchObject({
    ok: false,
    failure: { code: "conflict", message: expect.stringContaining(`pid ${second.child.pid}`) },
  });
});

test("a released lock can be taken again, also in the same process, and a held one cannot", () => {
  const lock = done(lockHome(home, process.pid));
  expect(lockHome(home, process.pid)).toMatchObject({ ok: false, failure: { code: "conflict" } });
  expect(lockHome(home, process.pid)).toMatchObject({ ok: false, failure: { code: "conflict" } });
  lock.release();
  lock.release();
  expect(existsSync(join(home, "clawd.pid"))).toBe(false);
  done(lockHome(home, process.pid)).release();
});

test("a second try in the holder's process does not drop the lock for others", async () => {
  const lock = done(lockHome(home, process.pid));
  expect(lockHome(home, process.pid).ok).toBe(false);
  expect(await tryLock(await rival())).toBe(`conflict: ${home} is in use by clawd with pid ${process.pid}`);
  lock.release();
});

test("locking prints nothing, and its files are for their owner only", async () => {
  const one = await rival();
  expect(await tryLock(one)).toBe("won");
  for (const file of ["clawd.lock", "clawd.pid"]) expect(statSync(join(home, file)).mode & 0o777).toBe(0o600);
  one.child.stdin.end();
  await once(one.child, "exit");
  expect(one.stderr).toBe("");
});

test("a folder that cannot be locked is told as what it is", () => {
  writeFileSync(
    join(home, "clawd.lock"),
    "this is no database, and it is longer than a hundred bytes, so that nobody can mistake it for one.\n",
  );
  expect(lockHome(home, process.pid)).toMatchObject({
    ok: false,
    failure: { code: "unavailable", hint: expect.any(String) },
  });
  writeFileSync(join(home, "file"), "");
  expect(lockHome(join(home, "file"), process.pid)).toMatchObject({ ok: false, failure: { code: "unavailable" } });
});
