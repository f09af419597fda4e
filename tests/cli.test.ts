import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, CLAW, eventually, openBench, processesWith } from "./kit/claw.ts";

/*
 * The command line's promises, kept by the bins themselves: what goes to stdout, how it ends, and what happens when the
 * daemon or the client dies in the middle.
 */

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
  await writeFile(join(bench.workspace, "notes.md"), "the engine weaves patterns\n");
});
afterAll(async () => {
  await bench.close();
  await eventually(
    () => processesWith(bench.home),
    (left) => left.length === 0,
    "the end of every process",
  );
});

type Line = {
  seq: number;
  sessionOpened?: { sessionId: string; workspace: string };
  toolCallStarted?: object;
  toolCallEnded?: { status: string };
  turnEnded?: { outcome: string };
};

function lines(text: string): Line[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** The session that a `say` names on stderr. */
function sessionOf(stderr: string): string {
  return /^session (\S+)/m.exec(stderr)?.[1] ?? "";
}

/** Runs `claw` with piped input. */
async function pipe(input: string, ...argv: readonly string[]) {
  const child = spawn(process.execPath, [CLAW, ...argv], { env: bench.env, cwd: bench.workspace });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code, stdout, stderr };
}

/** Starts a `say --json`, waits until its tool runs, and hands over the process and what it was told. */
async function sayUntilToolRuns(command: string) {
  const child = spawn(process.execPath, [CLAW, "say", "--json", "--yolo", command], {
    env: bench.env,
    cwd: bench.workspace,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const told: string[] = [];
  const started = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    told.push(line);
    if (line.includes('"toolCallStarted"')) started.resolve();
  });
  const stderr = text(child.stderr);
  const closed = once(child, "close");
  await started.promise;
  return { child, told, stderr, closed };
}

test("ten clients at once start one daemon", async () => {
  const all = await Promise.all(Array.from({ length: 10 }, () => bench.claw("status", "--json")));
  expect(all.map((one) => one.code)).toEqual(Array(10).fill(0));
  expect(new Set(all.map((one) => JSON.parse(one.stdout).pid)).size).toBe(1);
  expect((await stat(bench.home)).mode & 0o777).toBe(0o700);
  expect((await stat(join(bench.home, "clawd.log"))).mode & 0o777).toBe(0o600);
}, 60_000);

test("status is one object with everything that a program needs", async () => {
  const { stdout, stderr } = await bench.claw("status", "--json");
  expect(stderr).toBe("");
  const status = JSON.parse(stdout);
  expect(status).toMatchObject({
    home: bench.home,
    provider: expect.stringContaining("rehearsal"),
    plugins: [],
    hooks: [],
  });
  expect(status.sandbox).toMatchObject({ level: expect.any(String), detail: expect.any(String) });
  expect(existsSync(status.socket)).toBe(true);
});

test("say prints the answer once on stdout, and the way on on stderr", async () => {
  const said = await bench.claw("say", "read notes.md");
  expect(said.code).toBe(0);
  expect(said.stdout.match(/the engine weaves patterns/g)).toHaveLength(1);
  expect(said.stdout).toMatch(/^I will read notes\.md\.\nI did read/);
  expect(said.stdout.endsWith("\n")).toBe(true);
  expect(said.stderr).toContain("read notes.md");
  const again = await bench.claw("say", "--session", sessionOf(said.stderr), "read", "notes.md");
  expect(again).toMatchObject({ code: 0, stdout: said.stdout });
  expect(sessionOf(again.stderr)).toBe(sessionOf(said.stderr));
  const last = await bench.claw("say", "--session", "last", "read notes.md");
  expect(last).toMatchObject({ code: 0, stdout: said.stdout });
});

test("say --json prints every event of the turn and nothing else", async () => {
  const said = await bench.claw("say", "--json", "read notes.md");
  const events = lines(said.stdout);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => at + 1));
  expect(events[0]?.sessionOpened?.workspace).toBe(bench.workspace);
  expect(events.at(-1)?.turnEnded?.outcome).toBe("TURN_OUTCOME_DONE");
  expect(said.stderr).toBe("");
  const id = events[0]?.sessionOpened?.sessionId ?? "";
  for (const argv of [
    ["sessions", "export", id],
    ["sessions", "show", id, "--json"],
    ["attach", id, "--json"],
  ]) {
    expect(await bench.claw(...argv)).toMatchObject({ code: 0, stdout: said.stdout });
  }
  const tail = await bench.claw("attach", id, "--json", "--after", "3");
  expect(tail.stdout).toBe(said.stdout.split("\n").slice(3).join("\n"));
});

test("piped text is one message, for say and for chat alike", async () => {
  for (const argv of [["say"], ["say", "-"], ["chat"]]) {
    const said = await pipe("read notes.md\n", ...argv);
    expect(said.code).toBe(0);
    expect(said.stdout).toContain("the engine weaves patterns");
    expect(said.stdout).not.toContain("›");
  }
});

test("a call that was not allowed is told with the way to allow it, and is no failure of the command", async () => {
  const refused = await bench.claw("say", "run echo hi");
  expect(refused.code).toBe(0);
  expect(refused.stderr).toContain('--allow "shell:echo hi"');
  const allowed = await bench.claw("say", "--allow", "shell:echo hi", "run echo hi");
  expect(allowed.stdout).toContain("> hi");
});

test("what the daemon refuses is exit 3 with its hint", async () => {
  for (const argv of [
    ["attach", "nobody"],
    ["say", "--session", "nobody", "hi"],
    ["sessions", "delete", "nobody"],
    ["hook", "remove", "nobody"],
  ]) {
    const refused = await bench.claw(...argv);
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toMatch(/claw: .*nobody.*\n {2}→ /);
  }
});

test("sql gives tab-separated values when piped, and objects with --json", async () => {
  const sql = "select 1 as a, 'x' || chr(9) || 'y' as b, null as c";
  expect(await bench.claw("sql", sql)).toMatchObject({ code: 0, stdout: "a\tb\tc\n1\tx\\ty\t\n" });
  const objects = await bench.claw("sql", "--json", sql);
  expect(JSON.parse(objects.stdout)).toEqual({ a: 1, b: "x\ty", c: null });
});

test("a reader that leaves early is no failure", async () => {
  const shell = `"${process.execPath}" "${CLAW}" sql "select * from range(10000)" | head -n 1; exit "\${PIPESTATUS[0]}"`;
  const child = spawn("bash", ["-c", shell], { env: bench.env, stdio: ["ignore", "pipe", "pipe"] });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("run gives a script its arguments and its permissions, and ends as it ends", async () => {
  await writeFile(
    join(bench.workspace, "script.ts"),
    `console.log(Deno.args.join("|"));
console.error("noted");
console.log(await Deno.readTextFile("./notes.md").catch((error) => error.name));
Deno.exit(7);`,
  );
  const denied = await bench.claw("run", "script.ts", "a", "--b");
  expect(denied).toEqual({ code: 7, stdout: "a|--b\nNotCapable\n", stderr: "noted\n" });
  const granted = await bench.claw("run", "--allow-read=.", "script.ts");
  expect(granted).toMatchObject({ code: 7, stdout: "\nthe engine weaves patterns\n\n" });
});

test("Ctrl-C stops the turn and shows its end; the session goes on", async () => {
  const { child, told, closed } = await sayUntilToolRuns("run sleep 60");
  child.kill("SIGINT");
  const [code] = await closed;
  expect(code).toBe(1);
  const events = lines(told.join("\n"));
  expect(events.at(-1)?.turnEnded?.outcome).toBe("TURN_OUTCOME_CANCELLED");
  const id = events[0]?.sessionOpened?.sessionId ?? "";
  expect(await bench.claw("say", "--session", id, "read notes.md")).toMatchObject({ code: 0 });
});

test("a killed client leaves its turn running, and attach misses nothing", async () => {
  const { child, told, closed } = await sayUntilToolRuns("run sleep 1 then read notes.md");
  child.kill("SIGKILL");
  await closed;
  const id = lines(told.join("\n"))[0]?.sessionOpened?.sessionId ?? "";
  const attached = await bench.claw("attach", id, "--json");
  expect(attached.code).toBe(0);
  expect(attached.stdout.split("\n").slice(0, told.length)).toEqual(told);
  expect(lines(attached.stdout).at(-1)?.turnEnded?.outcome).toBe("TURN_OUTCOME_DONE");
});

test("a killed daemon is started again under a running say, which tells every event once", async () => {
  const pid = await bench.pid();
  const { told, closed, stderr } = await sayUntilToolRuns("run sleep 60 then read notes.md");
  process.kill(pid, "SIGKILL");
  const [code] = await closed;
  expect(code).toBe(0);
  expect(await stderr).toContain("connecting again");
  expect(await bench.pid()).not.toBe(pid);
  const events = lines(told.join("\n"));
  expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => at + 1));
  expect(events.flatMap((event) => event.toolCallEnded?.status ?? [])).toEqual([
    "TOOL_CALL_STATUS_LOST",
    "TOOL_CALL_STATUS_DONE",
  ]);
});

test("down closes the turn of a running say, and nothing starts the daemon again", async () => {
  const { told, closed } = await sayUntilToolRuns("run sleep 60");
  expect(await bench.claw("down")).toMatchObject({ code: 0 });
  const [code] = await closed;
  expect(code).toBe(1);
  expect(processesWith(bench.home)).toEqual([]);
  expect((await readFile(join(bench.home, "clawd.log"), "utf8")).trimEnd()).toMatch(/ended$/);
  const exported = await bench.claw("sessions", "export", lines(told.join("\n"))[0]?.sessionOpened?.sessionId ?? "");
  expect(lines(exported.stdout).at(-1)?.turnEnded?.outcome).toBe("TURN_OUTCOME_CANCELLED");
});

test("a changed key is noticed, and the restart that helps is named", async () => {
  await bench.claw("up");
  const env = { ...bench.env, OPENAI_API_KEY: "another" };
  const child = spawn(process.execPath, [CLAW, "say", "read notes.md"], {
    env,
    cwd: bench.workspace,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  expect(code).toBe(0);
  expect(stdout).toContain("the engine weaves patterns");
  expect(stderr).toContain("OPENAI_API_KEY is not what the daemon was started with");
  expect(stderr).toContain("claw down && claw up");
});

test("the tour runs through without a terminal and leaves nothing behind", async () => {
  const env = { ...bench.env, npm_lifecycle_event: "start" };
  const child = spawn(process.execPath, [CLAW], { env, cwd: bench.workspace, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  const home = /data folder (\S+)/.exec(stdout)?.[1] ?? "";
  expect(home).not.toBe("");
  expect(existsSync(home)).toBe(false);
  for (const proof of [
    "hook guard blocked",
    "plugin_hello_greet",
    "told events are in the journal, unchanged",
    "journals are whole",
  ]) {
    expect(stdout).toContain(proof);
  }
  expect(processesWith(home)).toEqual([]);
}, 60_000);
