import { expect, test } from "vitest";
import { printPermission } from "../permission/permission.ts";
import { onErrorAt, parseHookHeader } from "./hook-header.ts";

const parse = (text: string) => parseHookHeader("h.ts", text, "/hooks");

test("a full header is read, wherever it stands before the code", () => {
  const text = `#!/usr/bin/env claw
// a licence
/* and more */
/**
 * Keeps the shell away.
 * @hook at=tool.before,PostToolUse priority=-3 timeout=1.5s on-error=ask
 * @hook at=MessageReceived
 * @allow read=./rules,/etc/hosts env=CITY
 * @deny read=./rules/secret
 */
export default () => {}`;
  expect(parse(text)).toEqual({
    points: ["tool.before", "tool.after", "message.received"],
    priority: -3,
    unreadable: false,
    timeoutMs: 1500,
    onError: "ask",
    level: "admin",
    grant: {
      allow: [
        { kind: "read", path: "/hooks/rules" },
        { kind: "read", path: "/etc/hosts" },
        { kind: "env", name: "CITY" },
      ],
      deny: [{ kind: "read", path: "/hooks/rules/secret" }],
    },
    granted: ["read=./rules,/etc/hosts", "env=CITY", "!read=./rules/secret"],
    failure: undefined,
  });
});

test("what is not said has a default, and a guard fails closed", () => {
  const header = parse("/** @hook at=tool.before,tool.after */");
  expect(header).toMatchObject({ priority: 500, timeoutMs: 5000, grant: { allow: [], deny: [] } });
  expect([onErrorAt(header, "tool.before"), onErrorAt(header, "tool.after")]).toEqual(["deny", "allow"]);
  expect(onErrorAt(parse("/** @hook at=tool.after on_error=critical */"), "tool.after")).toBe("deny");
});

test.each([
  ["export default 1", "h.ts:1: it does not begin with a @hook header"],
  ["const a = 1; /** @hook at=tool.before */", "h.ts:1: it does not begin with a @hook header"],
  ["/** @hook at=tool.before", "h.ts:1: it does not begin with a @hook header"],
  ["/** @hooks at=tool.before */", "h.ts:1: it does not begin with a @hook header"],
  ["/** @hook priority=1 */", "h.ts:1: at: no hook point"],
  ["/**\n * @hook at=tool.during\n */", 'h.ts:2: at: there is no hook point "tool.during"'],
  ["/**\n * @hook at=__proto__\n */", 'h.ts:2: at: there is no hook point "__proto__"'],
  ["/**\n *\n * @hook at=tool.before priority=1.5 */", 'h.ts:3: priority: "1.5" is not a whole number'],
  ["/** @hook at=tool.before timeout=5 */", 'h.ts:1: timeout: "5" is not a time from 10ms to 120s'],
  ["/** @hook at=tool.before timeout=1h */", 'h.ts:1: timeout: "1h" is not a time from 10ms to 120s'],
  ["/** @hook at=tool.before on-error=maybe */", 'h.ts:1: on-error: "maybe" is not a verdict'],
  ["/** @hook at=tool.before level=root */", 'h.ts:1: level: "root" is no level'],
  ["/** @hook at=tool.before when=now */", 'h.ts:1: "when=now" is not a field of @hook'],
  ["/** @hook at=tool.before constructor=1 */", 'h.ts:1: "constructor=1" is not a field of @hook'],
  ["/** @hook at=tool.before\n * @allow raed=./x */", "h.ts:2: @allow raed=./x: "],
])("%j is broken, and says where and why", (text, message) => {
  const { failure } = parse(text);
  expect(failure?.message.startsWith(message)).toBe(true);
  expect(failure?.hint).toBeTruthy();
});

test("a hook that is critical denies when it fails, wherever it listens", () => {
  const header = parse("/** @hook at=turn.ended critical */");
  expect([header.failure, onErrorAt(header, "turn.ended")]).toEqual([undefined, "deny"]);
});

test("points have names of other systems, and extensions name their own", () => {
  const header = parse("/** @hook at=SessionStart,ResponseGenerated,ToolCallAfter,custom.my-plugin.saved */");
  expect(header.points).toEqual(["session.created", "model.after", "tool.after", "custom.my-plugin.saved"]);
  expect(parse("/** @hook at=custom. */").failure?.message).toContain('"custom."');
});

test.each([
  ["read", ["write", "net", "run", "tool", "memory=write"], ["read=/a", "env=A", "sys=hostname", "memory=read"]],
  ["write", ["net", "run", "tool"], ["write=/a", "memory=write", "read"]],
  ["execute", ["net"], ["run=git", "tool=read", "write"]],
  ["network", [], ["net=a.example", "run"]],
  ["admin", [], ["net", "run", "tool", "memory"]],
])("level %s reaches what lies below it, and denies the rest for good", (level, above, within) => {
  for (const word of within) {
    const header = parse(`/** @hook at=tool.after level=${level}\n * @allow ${word} */`);
    expect([word, header.failure]).toEqual([word, undefined]);
    expect(header.grant.deny.map(printPermission).sort()).toEqual([...above].sort());
  }
  for (const word of above) {
    const { failure } = parse(`/** @hook at=tool.after level=${level}\n * @allow ${word} */`);
    expect(failure?.message).toContain(`level: "${level}" does not reach`);
    expect(failure?.hint).toContain("write level=");
  }
});

test("a hook that only looks on does not deny by failing, unless it says that it is critical", () => {
  expect(onErrorAt(parse("/** @hook at=tool.before level=read */"), "tool.before")).toBe("allow");
  expect(onErrorAt(parse("/** @hook at=tool.before level=read critical */"), "tool.before")).toBe("deny");
});

test.each([
  "/** @hook at=tool.befor */",
  "/** @hook at=tool.after,tool.befor on-error=allow */",
  "/** @hook priority=1 */",
  "/** @hooks at=tool.before */",
  "const a = 1; /** @hook at=tool.after */",
  "/** @hook at=tool.after",
])("%j guards tools until somebody can read where it listens", (text) => {
  const header = parse(text);
  expect(header.points).toContain("tool.before");
  expect([header.unreadable, onErrorAt(header, "tool.before")]).toEqual([true, "deny"]);
});

test("a file that says nothing of a hook guards nothing", () => {
  expect(parse("export const word = 1;")).toMatchObject({ points: [], unreadable: false });
});

test("a header with an error still tells its point, so that a broken guard can block", () => {
  expect(parse("/** @hook at=tool.before on-error=dney */")).toMatchObject({
    points: ["tool.before"],
    onError: undefined,
  });
});
