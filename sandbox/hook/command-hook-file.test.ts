import { expect, test } from "vitest";
import { parseCommandFile } from "./command-hook-file.ts";
import { onErrorAt } from "./hook-header.ts";

const command = (line: string, more = {}) => ({ type: "command", command: line, ...more });
const parse = (tree: unknown) => parseCommandFile("/h/settings.json", JSON.stringify(tree));

test("each command of a settings file is a hook with a name, a point and a time", () => {
  const parsed = parse({
    permissions: { allow: ["Bash(ls)"] },
    hooks: {
      PreToolUse: [
        { matcher: "Bash|Write", hooks: [command("a"), command("b", { timeout: 1.5 })] },
        { hooks: [command("c")] },
      ],
      Stop: [{ hooks: [command("d")] }],
      Notification: [{ hooks: [command("e")] }],
      PreCompact: [{ matcher: "auto", hooks: [command("f")] }],
    },
  });
  if (!parsed.ok) throw new Error(parsed.failure.message);
  expect(
    parsed.value.map(({ name, group, header, order, notes }) => [
      name,
      group,
      header.points,
      header.timeoutMs,
      order.line,
      notes.length,
    ]),
  ).toEqual([
    ["settings/PreToolUse.1", "settings", ["tool.before"], 60_000, "a", 0],
    ["settings/PreToolUse.2", "settings", ["tool.before"], 1500, "b", 0],
    ["settings/PreToolUse.3", "settings", ["tool.before"], 60_000, "c", 0],
    ["settings/Stop.1", "settings", ["turn.ended"], 60_000, "d", 0],
    ["settings/Notification.1", "settings", [], 60_000, "e", 1],
    ["settings/PreCompact.1", "settings", ["compact.before"], 60_000, "f", 1],
  ]);
  const [first, , third] = parsed.value;
  expect(["shell", "write", "read"].map((tool) => first?.order.wants(tool))).toEqual([true, true, false]);
  expect(third?.order.wants("read")).toBe(true);
  expect(parsed.value.map(({ header }) => onErrorAt(header, header.points[0] ?? "turn.ended"))).toEqual([
    "deny",
    "deny",
    "deny",
    "allow",
    "allow",
    "allow",
  ]);
});

test("a file may widen what its commands see, and say what holds when they fail", () => {
  const hooks = { PreToolUse: [{ hooks: [command("a")] }] };
  const parsed = parse({
    hooks,
    clawd: { allow: ["read=./rules", "env=CITY"], deny: ["read=./rules/x"], on_error: "ask" },
  });
  expect(parsed.ok && parsed.value[0]?.header).toMatchObject({
    grant: {
      allow: [
        { kind: "read", path: "/h/rules" },
        { kind: "env", name: "CITY" },
      ],
      deny: [{ path: "/h/rules/x" }],
    },
    granted: ["read=./rules", "env=CITY", "!read=./rules/x"],
    onError: "ask",
  });
});

test.each([
  [{ hooks: [] }, "hooks is not an object"],
  [{ hooks: { PreToolUse: {} } }, "hooks.PreToolUse is not a list"],
  [{ hooks: { PreToolUse: [{ matcher: "x" }] } }, 'hooks.PreToolUse[0] has no list "hooks"'],
  [{ hooks: { PreToolUse: [{ matcher: 1, hooks: [] }] } }, "matcher is not a text"],
  [{ hooks: { PreToolUse: [{ matcher: "(", hooks: [] }] } }, "no regular expression"],
  [{ hooks: { PreToolUse: [{ hooks: [{ type: "prompt", prompt: "?" }] }] } }, 'type is not "command"'],
  [{ hooks: { PreToolUse: [{ hooks: [command("")] }] } }, "command is not a command line"],
  [{ hooks: { PreToolUse: [{ hooks: [command("node", { args: ["x.js"] })] }] } }, "args is not known here"],
  [{ hooks: { PreToolUse: [{ hooks: [command("a", { timeout: "5" })] }] } }, "timeout is not a number of seconds"],
  [{ hooks: { PreToolUse: [{ hooks: [command("a", { timeout: 6000 })] }] } }, "timeout is not a number of seconds"],
  [{ hooks: {}, clawd: { allow: "read" } }, "clawd.allow is not a list"],
  [{ hooks: {}, clawd: { allow: ["raed"] } }, "clawd.allow: "],
  [{ hooks: {}, clawd: { allow: ["run=git"] } }, "no use for run"],
  [{ hooks: {}, clawd: { grant: [] } }, "clawd.grant means nothing"],
])("%j is broken, and says where", (tree, message) => {
  expect(parse(tree)).toMatchObject({ ok: false, failure: { message: expect.stringContaining(message) } });
});

test("whole JSON of something else is no hook, and what ends before its end is broken whatever it begins with", () => {
  expect(parse({ rules: ["a"] })).toEqual({ ok: true, value: [] });
  expect(parse([])).toEqual({ ok: true, value: [] });
  expect(parse({ hooks: { PreToolUse: [] }, disableAllHooks: true })).toEqual({ ok: true, value: [] });
  for (const text of ["", "{", "{\0\0", '{"rules": [', '{"hooks": {', '{"\\u0068ooks": 1}'])
    expect(parseCommandFile("/h/data.json", text)).toMatchObject({ ok: false });
});
