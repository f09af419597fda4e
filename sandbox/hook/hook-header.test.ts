import { expect, test } from "vitest";
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
    timeoutMs: 1500,
    onError: "ask",
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
  ["/** @hook at=tool.before when=now */", 'h.ts:1: "when=now" is not a field of @hook'],
  ["/** @hook at=tool.before constructor=1 */", 'h.ts:1: "constructor=1" is not a field of @hook'],
  ["/** @hook at=tool.before\n * @allow raed=./x */", "h.ts:2: @allow raed=./x: "],
])("%j is broken, and says where and why", (text, message) => {
  const { failure } = parse(text);
  expect(failure?.message.startsWith(message)).toBe(true);
  expect(failure?.hint).toBeTruthy();
});

test("a header with an error still tells its point, so that a broken guard can block", () => {
  expect(parse("/** @hook at=tool.before on-error=dney */")).toMatchObject({
    points: ["tool.before"],
    onError: undefined,
  });
});
