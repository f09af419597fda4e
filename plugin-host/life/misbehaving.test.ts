import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { quietDesk } from "../../core/domain/desk.ts";
import { ok } from "../../core/domain/failure.ts";
import {
  bareLauncher,
  bundleFixture,
  closeLab,
  type Lab,
  launcher,
  NOTHING_LEFT,
  openBadLab,
  shortPauses,
} from "../fixtures/plugin-lab.ts";

let program: string;
let lab: Lab;
beforeAll(async () => {
  program = await bundleFixture("misbehaving.ts");
});
afterEach(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

async function openIn(mode: string, change: Parameters<typeof openBadLab>[2] = {}): Promise<void> {
  lab = await openBadLab(program, mode, change);
}

const call = () => lab.call("plugin_bad_act");
const failure = (code: string, message: string | RegExp) => ({
  status: "failed",
  failure: { code, message: typeof message === "string" ? message : expect.stringMatching(message) },
});
const row = () => lab.host.admin.list()[0];

describe("a start that fails says how, and is over at once", () => {
  test.each<[string, string, string | RegExp]>([
    ["exit-before-hello", "unavailable", 'plugin "bad" ended with code 7 before it said hello'],
    ["hopeless", "invalid", 'plugin "bad" ended with code 78 before it said hello'],
    ["bad-cookie", "invalid", 'plugin "bad" ended with code 64 before it said hello'],
    ["junk-on-stdout", "invalid", 'plugin "bad" said on standard output what is no hello: "never heard"'],
    ["hello-junk", "invalid", 'plugin "bad" said on descriptor 3 what is no hello: "CLAWD? never heard"'],
    ["hello-oversize", "invalid", 'plugin "bad" wrote more than 8 KiB on descriptor 3 instead of one line of hello'],
    ["hello-error", "invalid", 'plugin "bad" cannot start: no licence'],
    ["wrong-major", "invalid", 'plugin "bad" chose clawd.plugin major 99; it was offered 1'],
    ["no-socket", "invalid", 'plugin "bad" said hello but does not listen on its socket'],
    ["garbage-socket", "unavailable", /plugin "bad" refused Initialize: .+/],
    ["exit-after-hello", "unavailable", 'plugin "bad" ended with code 9 right after it said hello'],
    ["exit-in-init", "unavailable", 'plugin "bad" ended with code 9 right after it said hello'],
    ["wrong-version", "invalid", 'plugin "bad" says it is version "9.9.9", its plugin.json says 1.0.0'],
    ["more-tools", "invalid", 'plugin "bad" serves a tool "extra" that its plugin.json does not declare'],
    [
      "other-tools",
      "invalid",
      'plugin "bad" serves the tools "extra", "more" that its plugin.json does not declare, and does not serve the tool "act" that its plugin.json declares',
    ],
    ["fewer-tools", "invalid", 'plugin "bad" does not serve the tool "act" that its plugin.json declares'],
  ])("%s", async (mode, code, message) => {
    await openIn(mode);
    expect(await call()).toMatchObject(failure(code, message));
  });

  test("one that says nothing is given up after its start timeout", async () => {
    await openIn("hello-late", { startTimeoutMs: 700 });
    expect(await call()).toMatchObject(failure("timed_out", 'plugin "bad" did not say hello within 700 ms'));
  });

  test("one that closes descriptor 3 without a word is told apart", async () => {
    await openIn("hello-closed", { startTimeoutMs: 1_500 });
    expect(await call()).toMatchObject(
      failure("timed_out", 'plugin "bad" closed descriptor 3 and did not say hello within 1500 ms'),
    );
  });

  test("one that cannot write descriptor 3 says hello on standard output, among its log", async () => {
    await openIn("hello-on-stdout");
    expect(await call()).toEqual({ status: "done", output: "fine" });
    expect(lab.host.admin.log("bad")).toMatchObject({ value: expect.arrayContaining(["stdout: starting up"]) });
  });

  test("one that shows its host no token gets nothing from it", async () => {
    await openIn("token-missing");
    expect(await call()).toEqual({ status: "done", output: "fine" });
    const log = lab.host.admin.log("bad");
    const lines = log.ok ? log.value.join("\n") : "";
    expect(lines).toContain("the token of this call is missing or wrong");
    expect(lines).not.toContain("let me in");
  });

  test("one that hangs in Initialize is given up after the same timeout", async () => {
    await openIn("hang-in-init", { startTimeoutMs: 1_500 });
    expect(await call()).toMatchObject(
      failure("timed_out", /said hello, but did not answer Initialize within its 1500 ms/),
    );
  });

  test("its last words are the hint", async () => {
    await openIn("exit-before-hello");
    expect(await call()).toMatchObject({ failure: { hint: expect.stringContaining("I cannot go on") } });
  });

  test("what could only fail again is not tried again", async () => {
    await openIn("wrong-major");
    await call();
    const log = lab.host.admin.log("bad");
    expect(await call()).toMatchObject(failure("invalid", /major 99/));
    expect(lab.host.admin.log("bad")).toEqual(log);
    expect(lab.host.problems()).toMatchObject([{ code: "invalid" }]);
  });
});

describe("a call that goes wrong fails by itself, and the next one works", () => {
  test.each([
    ["no-result", "invalid", 'plugin "bad" ended the stream without a result for a call of "act"'],
    ["two-results", "invalid", 'plugin "bad" sent more after its result for a call of "act"'],
    ["oversize", "exhausted", "plugin_bad_act exchanged a message of more than 4 MiB"],
    ["refuse", "unavailable", /plugin "bad" broke off the call of "act": .*/],
  ])("%s", async (mode, code, message) => {
    await openIn(mode);
    expect(await call()).toMatchObject(failure(code, message));
    const before = row()?.pid;
    expect(await call()).toMatchObject({ status: "failed" });
    expect(row()).toMatchObject({ pid: before, restarts: 0 });
  });

  test("a crash in the middle of a call names the plugin, its death and its last words", async () => {
    await openIn("crash-mid-stream", { random: shortPauses });
    expect(await call()).toMatchObject({ failure: { hint: expect.stringContaining("about to fall") } });
    expect(await call()).toMatchObject(
      failure("unavailable", 'plugin "bad" was killed by SIGKILL during the call of "act"'),
    );
    expect(row()).toMatchObject({ restarts: 1 });
  });

  test("a call that hangs ends with its time, and the plugin lives on", async () => {
    await openIn("hang", { timeoutMs: 300 });
    expect(await call()).toMatchObject(failure("timed_out", "plugin_bad_act did not finish within 300 ms"));
    const before = row()?.pid;
    expect(await call()).toMatchObject(failure("timed_out", "plugin_bad_act did not finish within 300 ms"));
    expect(row()).toMatchObject({ pid: before, restarts: 0 });
  });

  test("a result counts even when the plugin never ends the stream", async () => {
    await openIn("never-ends");
    expect(await call()).toEqual({ status: "done", output: "done, but I keep the line open" });
  });
});

describe("a verdict that comes too late", () => {
  test("is dropped, and the next event gets its own", async () => {
    await openIn("late-verdict");
    const [listener] = await lab.host.hooks.listeners("tool.before");
    const value = { tool: "read", args: {} };
    const event = { at: "tool.before", sessionId: "s1", turnId: "t1", callId: "", workspace: lab.dir, value } as const;
    const context = { ...quietDesk(async () => ok(undefined)), signal: new AbortController().signal };
    const first = await listener?.ask(event, context);
    expect(first?.because).not.toContain("said too late");
    expect(first?.answer).toMatchObject({ do: "block" });
    expect(await listener?.ask(event, context)).toMatchObject({ answer: { do: "pass" } });
  });
});

describe("what a plugin prints hurts nobody", () => {
  test("a flood on standard error is read, and the last of it is kept", async () => {
    await openIn("stderr-flood");
    expect(await call()).toEqual({ status: "done", output: "fine" });
    const log = lab.host.admin.log("bad");
    expect(log.ok && log.value.length).toBe(200);
  });

  test("noise on standard output is log, not protocol; an endless line is cut", async () => {
    await openIn("stdout-noise");
    expect(await call()).toEqual({ status: "done", output: "fine" });
    const log = lab.host.admin.log("bad");
    const lines = log.ok ? log.value : [];
    expect(lines).toContain('stdout: {"jsonrpc":"2.0"}');
    expect(lines.find((line) => line.includes("no newline"))).toMatch(/ … \(154464 more characters\)$/);
  });
});

describe("nothing outlives its host", () => {
  test.each(["ignore-eof", "ignore-sigterm"])("%s: the next rung of the ladder ends it", async (mode) => {
    await openIn(mode);
    expect(await call()).toEqual({ status: "done", output: "fine" });
    await lab.host.close();
  });

  test.skipIf(launcher.level === "none")("a child of nobody, in a session of its own, goes too", async () => {
    await openIn("double-fork");
    expect(await call()).toEqual({ status: "done", output: "fine" });
    await lab.host.close();
  });

  test.each([
    ["in the sandbox of this machine", launcher],
    ["without any", bareLauncher],
  ])("a grandchild that ignores signals and holds the pipes goes too, %s", async (_, used) => {
    await openIn("grandchild", { launcher: used });
    expect(await call()).toEqual({ status: "done", output: "fine" });
    await lab.host.close();
  });

  test("closing while a plugin starts does not wait for its start timeout", async () => {
    await openIn("hello-late", { startTimeoutMs: 60_000 });
    const calling = call();
    await expect.poll(() => row()?.state).toBe(2);
    await lab.host.close();
    expect(await calling).toMatchObject(failure("unavailable", 'plugin "bad" was stopped while it started'));
  });
});
