import { afterAll, beforeAll, expect, test } from "vitest";
import { quietDesk } from "../../core/domain/desk.ts";
import { ok } from "../../core/domain/failure.ts";
import { closeLab, type Lab, NOTHING_LEFT, openLab } from "../../plugin-host/fixtures/plugin-lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  const installed = await lab.host.admin.install(import.meta.dirname, true);
  expect(installed).toMatchObject({ ok: true, value: { name: "redact", installed: true } });
});
afterAll(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

async function redacted(output: string): Promise<unknown> {
  const [listener] = await lab.host.hooks.listeners("tool.after");
  const value = { tool: "read", args: {}, status: "done", output };
  const event = { at: "tool.after", sessionId: "s1", turnId: "t1", callId: "c1", workspace: lab.dir, value } as const;
  const context = { ...quietDesk(async () => ok(undefined)), signal: new AbortController().signal };
  const reply = await listener?.ask(event, context);
  return reply?.answer.do === "modify" ? reply.answer.value.output : reply?.answer.do;
}

test.each([
  ["a key of a service", "use sk-abcdefghijklmnop1234 now", "use [redacted] now"],
  ["a token behind its name", 'api_key = "hunter2hunter2"', 'api_key = "[redacted]"'],
  ["a header", "authorization: Bearer abc.def.ghijkl", "authorization: Bearer [redacted]"],
  ["a private key", "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nend", "[redacted]\nend"],
])("%s is masked", async (_, output, masked) => {
  expect(await redacted(output)).toBe(masked);
});

test("other output goes on as it was", async () => {
  expect(await redacted("the token ring was a network; passwords: none")).toBe("pass");
});
