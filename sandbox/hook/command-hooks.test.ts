import { chmod, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { HookEvent } from "../../core/domain/hook.ts";
import { conversation, openSandboxRoom, type SandboxRoom } from "../fixtures/sandbox-room.ts";

const PYTHON = "/usr/bin/python3";

describe.each(["auto", "none"] as const)("command hooks with a launcher of level %s", (wanted) => {
  let room: SandboxRoom;
  let workspace = "";
  beforeAll(async () => {
    const env = { HOME: "/root", SECRET_TOKEN: "hidden", CITY: "Oslo" };
    room = await openSandboxRoom({ wanted, env, hooks: { commandsWithoutSandbox: true } });
    if (wanted === "auto" && room.launcher.level === "none")
      console.info(`no bubblewrap here: ${room.launcher.detail}`);
    workspace = join(room.folder, "work");
    await mkdir(workspace);
    await room.write("work/.claude/hooks/guard.sh", 'grep -q "rm -rf" && { echo "no rm" >&2; exit 2; }; exit 0');
    await room.write("tools/echo.sh", "#!/bin/sh\ncat > /tmp/in; exit 0\n");
    await chmod(join(room.folder, "tools/echo.sh"), 0o755);
  });
  afterEach(() => rm(join(room.hooksDir, "settings.json"), { force: true }));
  afterAll(() => room.close());

  const settings = (command: string, more: JsonObject = {}, event = "PreToolUse", matcher = "") =>
    room.write(
      "hooks/settings.json",
      JSON.stringify({ hooks: { [event]: [{ matcher, hooks: [{ type: "command", command, ...more }] }] } }),
    );
  const run = (value: JsonObject, at: HookEvent["at"] = "tool.before", talk = conversation()) =>
    room.hooks.hooks.run({ at, sessionId: "s1", turnId: "t1", callId: "c1", workspace, value }, talk);
  const shell = (command: string) => run({ tool: "shell", args: { command } });

  test("a guard in the workspace hears of a call in the form it knows, and says no", async () => {
    await settings('sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh', {}, "PreToolUse", "Bash");
    expect((await shell("ls")).answer).toEqual({ do: "pass" });
    const { answer, receipts } = await shell("rm -rf /");
    expect(answer).toEqual({ do: "block", because: "no rm" });
    expect(receipts).toMatchObject([{ hook: "settings/PreToolUse.1", verdict: "block", ran: true }]);
    expect((await run({ tool: "write", args: { path: "rm" } })).answer).toEqual({ do: "pass" });
  });

  test("what it reads has the names of that format", async () => {
    await settings("cat >&2; exit 2");
    const { answer } = await run({ tool: "read", args: { path: "a.txt" } });
    expect(answer.do === "block" && JSON.parse(answer.because)).toEqual({
      session_id: "s1",
      transcript_path: "",
      cwd: workspace,
      permission_mode: "default",
      hook_event_name: "PreToolUse",
      tool_name: "Read",
      tool_input: { file_path: join(workspace, "a.txt") },
      tool_use_id: "c1",
    });
  });

  test.each([
    ["no-such-interpreter guard.py", "there is no program no-such-interpreter"],
    ["sh missing.sh", "there is no script missing.sh"],
    ["./missing.sh", "there is no program ./missing.sh"],
    ["if true; then", "could not be started (code 126)"],
    ["true; no-such-program-$((1))", "code 127"],
    ["exit 3", "ended with code 3"],
  ])("%s is a failure to start or to run, and never a verdict", async (line, because) => {
    await settings(line);
    const { answer } = await shell("ls");
    expect(answer).toMatchObject({ do: "block", because: expect.stringContaining(because) });
    expect(answer).toMatchObject({
      because: expect.stringMatching(/^Critical hook 'settings\/PreToolUse\.1' failed: /),
    });
    await room.write(
      "hooks/settings.json",
      JSON.stringify({ hooks: { PostToolUse: [{ hooks: [{ type: "command", command: line }] }] } }),
    );
    expect((await run({ tool: "shell", args: {}, status: "done", output: "x" }, "tool.after")).answer).toEqual({
      do: "pass",
    });
  });

  test.skipIf(!existsProgram(PYTHON))(
    "an interpreter that would end with 2 for want of its script blocks as a failure",
    async () => {
      await settings("python3 missing.py");
      expect((await shell("ls")).answer).toMatchObject({ because: expect.stringContaining("no script missing.py") });
      await room.write(
        "work/ask.py",
        'import json, sys\nprint(json.dumps({"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": json.load(sys.stdin)["tool_name"]}}))',
      );
      await settings("python3 ask.py");
      expect((await shell("ls")).answer).toEqual({ do: "ask", because: "Bash" });
    },
  );

  test("one that is late is killed with all it started, and one that floods", async () => {
    await settings("sleep 100 & sleep 100", { timeout: 0.2 });
    expect((await shell("ls")).answer).toMatchObject({ because: expect.stringContaining("timed out") });
    await settings("yes");
    expect((await shell("ls")).answer).toMatchObject({ because: expect.stringContaining("printed too much") });
  });

  test("an interrupted one ends at once", async () => {
    await settings("sleep 100");
    const interrupt = new AbortController();
    const running = run({ tool: "shell", args: {} }, "tool.before", conversation(interrupt.signal));
    interrupt.abort();
    expect((await running).answer).toMatchObject({ because: expect.stringContaining("was interrupted") });
  });

  test("its environment has what it needs, and no more than its file names", async () => {
    await settings(`echo "$HOME $CLAUDE_PROJECT_DIR \${SECRET_TOKEN:-none} \${CITY:-none}" >&2; exit 2`);
    expect((await shell("ls")).answer).toEqual({ do: "block", because: `/root ${workspace} none none` });
    const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: 'echo "$CITY" >&2; exit 2' }] }] };
    await room.write("hooks/settings.json", JSON.stringify({ hooks, clawd: { allow: ["env=CITY"] } }));
    expect((await shell("ls")).answer).toEqual({ do: "block", because: "Oslo" });
  });

  test("messages get context, sessions are told, and what nothing can do is only logged", async () => {
    await settings("echo context", {}, "UserPromptSubmit");
    expect((await run({ text: "hi" }, "message.received")).answer).toEqual({
      do: "modify",
      value: { text: "hi\n\ncontext" },
    });
    await settings("echo started", {}, "SessionStart");
    expect((await run({ model: "" }, "session.created")).answer).toEqual({ do: "pass" });
    await settings("echo again >&2; exit 2", {}, "Stop");
    expect((await run({ outcome: "done", text: "" }, "turn.ended")).answer).toEqual({ do: "pass" });
    expect(room.printed).toContain("settings/Stop.1: wanted block, which nothing can do at Stop");
  });

  if (wanted === "none") console.info("skipped at level none: what a wall hides and opens, for there is none");
  test.skipIf(wanted === "none")(
    "it sees its own folder and the workspace, can write neither, and has no network",
    async (context) => {
      if (room.launcher.level === "none") return context.skip(room.launcher.detail);
      await room.write("secret.txt", "secret");
      await room.write("work/seen.txt", "seen");
      const line = [
        `"${room.folder}/tools/echo.sh"`,
        "cat seen.txt",
        `cat "${room.folder}/secret.txt"`,
        "echo x > seen.txt",
        `echo x > "${room.folder}/tools/new"`,
        `ls "${room.folder}/sessions"`,
        "ls /etc/passwd",
        "cat /proc/net/dev | grep -c eth",
      ].map((part) => `(${part}) >/tmp/out 2>/dev/null && echo yes || echo no`);
      await settings(`{ ${line.join("; ")}; } | tr '\\n' ' ' >&2; exit 2`);
      const { answer } = await shell("ls");
      expect(answer).toEqual({ do: "block", because: "yes yes no no no no no no" });
    },
  );

  test("a script that lies in the daemon's own data is found, though the rest of that is not", async () => {
    await room.write("home/token", "secret");
    await room.write(
      "home/hooks/inside.sh",
      `cat "${room.folder}/home/token" >&2 2>/dev/null || echo nothing >&2; exit 2`,
    );
    await settings(`sh "${room.folder}/home/hooks/inside.sh"`);
    const because = room.launcher.level === "none" ? "secret" : "nothing";
    expect((await shell("ls")).answer).toEqual({ do: "block", because });
  });

  test.skipIf(wanted === "none")("a script that its sandbox does not show is a failure to start", async (context) => {
    if (room.launcher.level === "none") return context.skip(room.launcher.detail);
    const file = await room.write("home/bare.sh", "exit 0");
    const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: `sh "${file}"` }] }] };
    await room.write("hooks/settings.json", JSON.stringify({ hooks, clawd: { deny: [`read=${file}`] } }));
    expect((await shell("ls")).answer).toMatchObject({
      do: "block",
      because: expect.stringContaining(`could not be started (code 126): ${file} cannot be read in its sandbox`),
    });
  });

  test("a tool that a matcher does not mean is no run of it", async () => {
    await settings("exit 2", {}, "PreToolUse", "Bash");
    const { receipts } = await run({ tool: "read", args: {} });
    expect(receipts).toMatchObject([{ verdict: "pass", ran: false }]);
  });

  test.skipIf(wanted === "none")("its file can widen what it sees and writes", async (context) => {
    if (room.launcher.level === "none") return context.skip(room.launcher.detail);
    await room.write("wide/a.txt", "a");
    const hooks = {
      PreToolUse: [
        {
          hooks: [
            {
              type: "command",
              command: `cat ${room.folder}/wide/a.txt >&2; echo b > ${room.folder}/wide/b.txt && exit 2`,
            },
          ],
        },
      ],
    };
    await room.write(
      "hooks/settings.json",
      JSON.stringify({ hooks, clawd: { allow: ["read=../wide", "write=../wide"] } }),
    );
    expect((await shell("ls")).answer).toEqual({ do: "block", because: "a" });
  });
});

function existsProgram(path: string): boolean {
  return process.getBuiltinModule("node:fs").existsSync(path);
}

test("without a sandbox they run only when a person says so, and that is shown", async () => {
  const room = await openSandboxRoom({ wanted: "none" });
  try {
    const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: "true" }] }] };
    await room.write("hooks/settings.json", JSON.stringify({ hooks }));
    const event: HookEvent = {
      at: "tool.before",
      sessionId: "s",
      turnId: "t",
      callId: "c",
      workspace: room.folder,
      value: { tool: "shell", args: {} },
    };
    const { answer } = await room.hooks.hooks.run(event, conversation());
    expect(answer).toMatchObject({ do: "block", because: expect.stringContaining("commands_without_sandbox") });
    expect((await room.hooks.admin.list())[0]?.notes?.join()).toContain("commands_without_sandbox");
  } finally {
    await room.close();
  }
});
