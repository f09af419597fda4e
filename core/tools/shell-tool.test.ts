import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { quietDesk } from "../../core/domain/desk.ts";
import { ok } from "../../core/domain/failure.ts";
import { netGrant, openLocalNet } from "../../sandbox/egress/fixtures/local-net.ts";
import { bare, boxed, madeFor, openToolBench, SEARCH_PATH, type ToolBench } from "./fixtures/tool-bench.ts";
import type { ShellOptions } from "./shell-tool.ts";
import { createTools } from "./tools.ts";

const noBubblewrap = boxed.level !== "bubblewrap";
if (noBubblewrap) console.warn(`skipping the tests of the sandboxed shell: ${boxed.detail}`);

let bench: ToolBench | undefined;
afterEach(() => bench?.close());

function open(launcher = boxed, shell: Partial<ShellOptions> = {}): ToolBench {
  bench = openToolBench(launcher, shell);
  return bench;
}

/** Processes of this machine with this text in their arguments. */
function alive(marker: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(marker);
    } catch {
      return false;
    }
  });
}

async function untilGone(marker: string): Promise<void> {
  while (alive(marker).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

const levels = [
  { name: "bubblewrap", launcher: boxed, skip: noBubblewrap },
  { name: "none", launcher: bare, skip: false },
];

describe.each(levels)("on level $name", ({ launcher, skip }) => {
  test.skipIf(skip)("exit code, stdout and stderr are told apart, and lines are shown as they come", async () => {
    const { call, lines, workspace } = open(launcher);
    expect(await call("shell", { command: "pwd; echo two; echo oops >&2; exit 3" })).toEqual({
      status: "done",
      output: `exit code 3\n--- stdout ---\n${workspace}\ntwo\n--- stderr ---\noops`,
    });
    expect([...lines].sort()).toEqual([workspace, "oops", "two"].sort());
    expect(await call("shell", { command: "cat; true" })).toEqual({
      status: "done",
      output: "exit code 0\n[no output]",
    });
  });

  test.skipIf(skip)("nothing of the daemon's environment is seen", async () => {
    process.env.CLAWD_TEST_KEY = "sk-secret";
    const { output } = await open(launcher).call("shell", {
      command: "env; cat /proc/1/environ 2>/dev/null | tr '\\0' '\\n'",
    });
    delete process.env.CLAWD_TEST_KEY;
    if (launcher === boxed) expect(output).not.toContain("sk-secret");
    expect(output).toContain("HOME=/tmp");
  });

  test.skipIf(skip)("both streams full at once do not lock up, and only their ends are kept", async () => {
    const flood = "i=0; while [ $i -lt 400 ]; do printf '%01000d' $i; printf '%01000d' $i >&2; i=$((i+1)); done";
    const { output } = await open(launcher).call("shell", { command: flood });
    expect(output.length).toBeLessThan(90_000);
    expect(output.match(/\[… 360,000 bytes left out/g)).toHaveLength(2);
    expect(output).toContain("0399");
  });

  test.skipIf(skip)("binary output and endless lines do no harm", async () => {
    const { call, lines } = open(launcher);
    const { output } = await call("shell", { command: "head -c 300000 /dev/urandom; printf '\\033[31mend\\033[0m'" });
    expect(output).toMatch(/end$/);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(500);
  });

  test.skipIf(skip)("a command that never stops writing is killed", async () => {
    expect(await open(launcher).call("shell", { command: "yes" })).toMatchObject({
      status: "failed",
      output: expect.stringContaining("--- stdout ---\ny\ny"),
      failure: { code: "exhausted", hint: expect.stringContaining("file") },
    });
  });

  test.skipIf(skip)("at its time limit the whole tree is killed, and what it wrote is shown", async () => {
    const marker = `sleep 7${process.pid}1`;
    const command = `echo begun; (trap '' TERM; setsid ${marker} &) ; ${marker}`;
    expect(await open(launcher).call("shell", { command, timeout_ms: 1_500 })).toMatchObject({
      status: "failed",
      output: expect.stringContaining("begun"),
      failure: { code: "timed_out", message: "the command did not end within 1.5 s and was killed" },
    });
    await untilGone(marker.replace(" ", "\0"));
  });

  test.skipIf(skip)("an interrupt kills it too", async () => {
    const marker = `sleep 7${process.pid}2`;
    const abort = new AbortController();
    const progress = () => abort.abort();
    const command = `echo begun; ${marker} & ${marker}`;
    expect(await open(launcher).call("shell", { command }, { signal: abort.signal, progress })).toMatchObject({
      failure: { code: "cancelled" },
    });
    await untilGone(marker.replace(" ", "\0"));
    expect(await bench?.call("shell", { command: "touch ran" }, { signal: AbortSignal.abort() })).toMatchObject({
      failure: { code: "cancelled" },
    });
    expect(existsSync(join(bench?.workspace ?? "", "ran"))).toBe(false);
  });

  test.skipIf(skip)("what it left in the background ends with it and does not hold up the answer", async () => {
    const marker = `sleep 7${process.pid}3`;
    expect(await open(launcher).call("shell", { command: `${marker} & echo ready` })).toEqual({
      status: "done",
      output: "exit code 0\n--- stdout ---\nready",
    });
    await untilGone(marker.replace(" ", "\0"));
  });
});

describe.skipIf(noBubblewrap)("in the sandbox", () => {
  test("only the workspace and what was configured is seen and written", async () => {
    const { call, workspace, outside, root } = open();
    writeFileSync(join(outside, "secret.txt"), "the secret outside");
    const command = `cat ${outside}/secret.txt; echo x > ${outside}/new; echo x > ${root}/new; echo kept > here`;
    expect((await call("shell", { command })).output).not.toContain("the secret");
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(readFileSync(join(workspace, "here"), "utf8")).toBe("kept\n");
    const wider = createTools({
      launcher: boxed,
      protectedPaths: [],
      shell: { searchPath: SEARCH_PATH, network: "none", read: [outside], write: [] },
    }).find(({ name }) => name === "shell");
    const context = {
      sessionId: "s",
      callId: "c",
      workspace,
      signal: new AbortController().signal,
      progress: () => {},
      desk: quietDesk(async () => ok(undefined)),
    };
    expect(await wider?.run({ command: `cat ${outside}/secret.txt` }, context)).toMatchObject({
      output: expect.stringContaining("the secret outside"),
    });
    expect(wider?.needs({ command: "x" }, "/w")).toEqual([
      { kind: "run" },
      { kind: "read", path: "/w" },
      { kind: "read", path: outside },
      { kind: "write", path: "/w" },
    ]);
  });

  test("git works, but what decides which programs it runs cannot be changed, and the daemon's data is not there", async () => {
    const { call, workspace } = open();
    writeFileSync(join(workspace, "data/token"), "daemon-token");
    writeFileSync(madeFor(join(workspace, "sub/.vscode/tasks.json")), "{}");
    execFileSync("git", ["init", "-q", workspace]);
    mkdirSync(join(workspace, ".git/hooks"), { recursive: true });
    const hook = join(workspace, ".git/hooks/pre-commit");
    const commit = "git add sub && git -c user.name=a -c user.email=a@b commit -q -m first && git log --format=%s";
    expect((await call("shell", { command: commit })).output).toBe("exit code 0\n--- stdout ---\nfirst");
    const attack = `echo evil > .git/hooks/pre-commit; echo evil >> .git/config; mv .git/hooks .git/h; echo evil > sub/.vscode/tasks.json; cat data/token; echo x > data/y`;
    expect((await call("shell", { command: attack })).output).not.toContain("daemon-token");
    expect(existsSync(hook)).toBe(false);
    expect(readFileSync(join(workspace, ".git/config"), "utf8")).not.toContain("evil");
    expect(readFileSync(join(workspace, "sub/.vscode/tasks.json"), "utf8")).toBe("{}");
    expect(readdirSync(join(workspace, "data"))).toEqual(["token"]);
    const exchange = `mv .git g && mkdir .git && cp -r g/. .git; echo evil > .git/hooks/pre-commit; rm -rf .git; ls -d .git`;
    expect((await call("shell", { command: exchange })).output).toContain("busy");
    expect(existsSync(hook)).toBe(false);
    expect(readFileSync(join(workspace, ".git/config"), "utf8")).not.toContain("evil");
  });

  test("there is no network, and a program that is not seen is explained", async () => {
    const { call } = open();
    const dial = "exec 3<>/dev/tcp/127.0.0.1/22 && echo connected";
    expect((await call("shell", { command: dial })).output).not.toContain("connected");
    expect((await call("shell", { command: "no-such-program-here" })).output).toContain("[shell] read in config.toml");
  });

  test("with a granted network it reaches what was granted, and the model reads what was denied", async () => {
    const net = openLocalNet();
    const port = await net.serve("127.0.0.2", (_, response) => response.end("reached"));
    const network = netGrant([`127.0.0.2:${port}`]);
    const { call } = open(boxed, { network });
    const ask = (place: string) =>
      `exec 3<>/dev/tcp/127.0.0.1/\${http_proxy##*:}; printf 'GET http://${place}/ HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`;
    expect((await call("shell", { command: ask(`127.0.0.2:${port}`) })).output).toMatch(/ 200 OK.*reached$/s);
    const { output = "" } = await call("shell", { command: `${ask("127.0.0.3:8080")}; ${ask("127.0.0.3:8080")}` });
    expect(output).toMatch(/ 403 Forbidden/);
    expect(output.match(/\[network:.*/g)).toEqual([
      "[network: net=127.0.0.3:8080 is not granted; [shell] net in config.toml opens more]",
    ]);
    expect(net.visits).toHaveLength(1);
    net.close();
    const tools = createTools({
      ...{ launcher: boxed, protectedPaths: [] },
      shell: { searchPath: SEARCH_PATH, network, read: [], write: [] },
    });
    const shell = tools.find(({ name }) => name === "shell");
    expect(shell?.needs({}, "/w")).toContainEqual({ kind: "net", host: "127.0.0.2", port });
    expect(shell?.description).toContain("only what was configured is reached");
  });

  test("a configured path that is gone fails the call with a word, not the daemon", async () => {
    expect(await open(boxed, { read: ["/gone/for/good"] }).call("shell", { command: "true" })).toMatchObject({
      status: "failed",
      failure: { code: "unavailable", message: expect.stringContaining("/gone/for/good does not exist") },
    });
  });
});

test("without a sandbox the shell says that it needs everything", () => {
  const shell = { searchPath: SEARCH_PATH, network: "none" as const, read: [], write: [] };
  const tools = createTools({ launcher: bare, protectedPaths: [], shell });
  expect(
    tools
      .find(({ name }) => name === "shell")
      ?.needs({}, "/w")
      .map(({ kind }) => kind),
  ).toEqual(["run", "read", "write", "net"]);
});

test("no name or alias stands for two tools", () => {
  const shell = { searchPath: SEARCH_PATH, network: "none" as const, read: [], write: [] };
  const tools = createTools({ launcher: bare, protectedPaths: [], shell });
  const names = tools.flatMap(({ name, aliases }) => [name, ...aliases]);
  expect(new Set(names).size).toBe(names.length);
  expect(tools.map(({ name }) => name)).toEqual(["read", "write", "edit", "list", "grep", "shell"]);
});
