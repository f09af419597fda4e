import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HOOK_POINTS, NOT_FIRED_YET } from "../../core/domain/hook.ts";
import { openSandboxRoom, type SandboxRoom } from "../fixtures/sandbox-room.ts";

const TEXT = readFileSync(join(import.meta.dirname, "../../docs/hooks.md"), "utf8");
/** Files that the document shows, by their names. */
const FILES = [...TEXT.matchAll(/<!-- (?:hook|file): (\S+) -->\n```\w+\n([\s\S]*?)```/g)];
/** What it says that `claw hook test` prints. */
const TRIALS = [...TEXT.matchAll(/^\$ claw hook test (\S+) --value '(.*)'\n((?:(?!\$|```).*\n)+)/gm)];

let room: SandboxRoom;
beforeAll(async () => {
  room = await openSandboxRoom({ wanted: "auto", env: { HOME: "/root" }, hooks: { commandsWithoutSandbox: true } });
  for (const [, name = "", text = ""] of FILES) await room.write(`hooks/${name}`, text);
});
afterAll(() => room.close());

test("the document shows files and what comes of them", () => {
  expect([FILES.length, TRIALS.length]).toEqual([5, 7]);
});

test.each(TRIALS.map(([, name, value, printed]) => ({ name, value, printed })))(
  "$name with $value says what the document says",
  async ({ name = "", value = "", printed = "" }) => {
    const tried = await room.hooks.admin.test(name, "", JSON.parse(value));
    if (!tried.ok) throw new Error(tried.failure.message);
    const { answer, because } = tried.value;
    const [verdict, given] = printed.trim().split("\n");
    expect(because === "" ? answer.do : `${answer.do}: ${because}`).toBe(verdict);
    if (given !== undefined) expect(answer).toEqual({ do: "modify", value: JSON.parse(given) });
  },
);

test("none of the hooks that it shows is broken", async () => {
  expect((await room.hooks.admin.list()).map(({ name, failure }) => [name, failure?.message])).toEqual(
    ["no-sudo", "allowance", "quiet-keys", "settings/PreToolUse.1"].map((name) => [name, undefined]),
  );
});

test("every point is in it", () => {
  for (const point of HOOK_POINTS) expect(TEXT).toContain(`\`${point}\``);
  for (const point of NOT_FIRED_YET) expect(TEXT).not.toContain(`| \`${point}\` |`);
});
