import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { NO_HOOKS } from "../../core/domain/hook.ts";
import { conversation, openSandboxRoom, type SandboxRoom, toolBefore } from "../fixtures/sandbox-room.ts";

let room: SandboxRoom;
beforeAll(async () => {
  room = await openSandboxRoom({
    wanted: "auto",
    hooks: { breaker: { killsAllowed: 2, killWindowMs: 600_000 } },
  });
});
afterEach(async () => {
  for (const { name } of await room.hooks.admin.list()) await room.hooks.admin.remove(name ?? "");
  room.printed.length = 0;
});
afterAll(() => room.close());

const WEDGE = "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)";
const hook = (name: string, code: string, header = "") =>
  room.write(`hooks/${name}.ts`, `/** @hook at=tool.before ${header} */\n${code}`);
const fire = (hooks = room.hooks) => hooks.hooks.run(toolBefore({ tool: "x", args: {} }), conversation());
const row = async (hooks = room.hooks) => (await hooks.admin.list())[0];

test("a hook whose process has to be killed too often is off, visibly, and answers by its on-error", async () => {
  await hook("wedge", `export default () => ${WEDGE}`);
  expect((await fire()).answer.do).toBe("block");
  expect(await row()).toMatchObject({ enabled: true });
  expect((await fire()).answer.do).toBe("block");
  const because = "its process had to be killed 2 times within 600 seconds";
  expect(await row()).toMatchObject({
    enabled: false,
    failure: { message: `hook "wedge" is turned off: ${because}`, hint: expect.stringContaining("claw hook enable") },
  });
  const { answer, receipts } = await fire();
  expect(answer).toMatchObject({ do: "block", because: expect.stringContaining(because) });
  expect(receipts[0]?.because).toBe(`Critical hook 'wedge' failed: hook "wedge" is turned off: ${because}`);
  expect(room.printed.join()).toContain(because);
  expect(await row(await room.reopen())).toMatchObject({ enabled: false });
});

test("a changed hook begins anew, and so does one that a person turns on", async () => {
  await hook("wedge", `export default () => ${WEDGE}`, "on-error=allow");
  for (let kill = 0; kill < 2; kill += 1) await fire();
  expect(await row()).toMatchObject({ enabled: false });
  expect((await fire()).answer).toEqual({ do: "pass" });
  await room.hooks.admin.enable("wedge", true);
  expect(await row()).toMatchObject({ enabled: true });
  for (let kill = 0; kill < 2; kill += 1) await fire();
  expect(await row()).toMatchObject({ enabled: false });
  await hook("wedge", "export default () => ({ answer: 'mended' })");
  expect((await fire()).answer).toEqual({ do: "answer", result: "mended" });
  expect(await row()).toMatchObject({ enabled: true });
});

test("an error, and a time that is up, turn nothing off", async () => {
  await hook("thrower", "export default () => { throw 1 }");
  for (let time = 0; time < 3; time += 1) await fire();
  await hook("thrower", "export default () => new Promise((r) => setTimeout(r, 60_000))", "timeout=50ms");
  for (let time = 0; time < 3; time += 1) await fire();
  expect(await row()).toMatchObject({ enabled: true });
});

test("a hook that a person turned off is not asked until it is turned on, and a change does not turn it on", async () => {
  await hook("guard", "export default () => ({ block: 'no' })");
  expect(await room.hooks.admin.enable("guard", false)).toMatchObject({ ok: true });
  expect(await fire()).toBe(NO_HOOKS);
  expect(await room.hooks.hooks.hears("tool.before")).toBe(false);
  await hook("guard", "export default () => ({ block: 'changed' })");
  expect(await fire()).toBe(NO_HOOKS);
  const again = await room.reopen();
  expect(await fire(again)).toBe(NO_HOOKS);
  expect(await row(again)).toMatchObject({
    enabled: false,
    failure: { message: expect.stringContaining("by a person") },
  });
  await again.admin.enable("guard", true);
  expect((await fire(again)).answer).toEqual({ do: "block", because: "changed" });
  expect(await room.hooks.admin.enable("gard", true)).toMatchObject({ ok: false, failure: { code: "not_found" } });
});

test("a hook that was off and is removed leaves nothing to another of its name", async () => {
  await hook("guard", "export default () => ({ block: 'no' })");
  await room.hooks.admin.enable("guard", false);
  await room.hooks.admin.remove("guard");
  await hook("guard", "export default () => ({ block: 'new' })");
  expect((await fire()).answer).toEqual({ do: "block", because: "new" });
});

test("guards stay when the journal of hooks cannot be read, and that is said", async () => {
  await hook("guard", "export default () => ({ block: 'no' })");
  await room.hooks.admin.enable("guard", false);
  await rm(join(room.folder, "sessions"), { recursive: true });
  const again = await room.reopen();
  expect(["pass", "block"]).toContain((await fire(again)).answer.do);
});
