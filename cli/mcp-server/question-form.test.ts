import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ApprovalAskedSchema, ApprovalScope } from "../../proto/gen/clawd/v1/event_pb.ts";
import { questionForm, readReply } from "./question-form.ts";

test("a call is asked about with its arguments, and control characters in them are harmless", () => {
  const args = { command: "echo \u001b[2J" };
  const asked = create(ApprovalAskedSchema, { tool: "shell", args, because: "shell calls need a yes" });
  const { message, requestedSchema } = questionForm(asked);
  expect(message).toMatch(/^Allow shell \{"command":"echo .*\? \(shell calls need a yes\)$/);
  expect(message).not.toContain("\u001b");
  expect(requestedSchema.properties).toHaveProperty("session");
});

test("a permission is asked about in words, and a plugin's own question only once", () => {
  const permission = create(ApprovalAskedSchema, { permission: "read=/etc/hosts", principal: "hook:guard" });
  expect(questionForm(permission).message).toBe("hook guard wants to read /etc/hosts. Allow it?");
  const own = create(ApprovalAskedSchema, { principal: "plugin:mailer", because: "Send it?" });
  expect(questionForm(own)).toMatchObject({
    message: "plugin mailer asks: Send it?",
    requestedSchema: { properties: {} },
  });
});

test("only what is said to be accepted is a yes", () => {
  const once = ApprovalScope.ONCE;
  const plain = create(ApprovalAskedSchema, {});
  const read = (answer: unknown) => readReply(answer, plain);
  expect(read({ action: "accept" })).toEqual({ allowed: true, scope: once });
  expect(read({ action: "accept", content: { session: "true" } })).toEqual({ allowed: true, scope: once });
  expect(read({ action: "accept", content: { session: true } })).toEqual({
    allowed: true,
    scope: ApprovalScope.SESSION,
  });
  expect(read({ action: "decline", content: { session: true } })).toEqual({ allowed: false, scope: once });
  expect(read({ action: "cancel" })).toBe("dismissed");
  for (const odd of [undefined, null, "accept", {}, { action: "yes" }, [], { action: true }]) {
    expect(read(odd)).toBeUndefined();
  }
});

test("a stranger's form goes out as it is, and what is filled in comes back for this once", () => {
  const requestedSchema = { type: "object", properties: { session: { type: "boolean" } } };
  const asked = create(ApprovalAskedSchema, { principal: "plugin:mailer", because: "Send it?", requestedSchema });
  expect(questionForm(asked).requestedSchema).toEqual(requestedSchema);
  const reply = readReply({ action: "accept", content: { session: true } }, asked);
  expect(reply).toEqual({ allowed: true, scope: ApprovalScope.ONCE, content: { session: true } });
  expect(readReply({ action: "accept" }, asked)).toMatchObject({ allowed: true, content: {} });
});
