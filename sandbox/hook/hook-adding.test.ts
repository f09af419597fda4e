import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { conversation, openSandboxRoom, type SandboxRoom, toolBefore } from "../fixtures/sandbox-room.ts";

let room: SandboxRoom;
beforeAll(async () => {
  room = await openSandboxRoom({ wanted: "auto" });
});
afterEach(async () => {
  for (const { group } of await room.hooks.admin.list()) await room.hooks.admin.remove(group ?? "");
});
afterAll(() => room.close());

const header = "/** @hook at=tool.before */";
const names = async () => (await room.hooks.admin.list()).map(({ name }) => name);
const add = (path: string) => room.hooks.admin.add(join(room.folder, path));

async function fire(workspace = "/w") {
  const event = { ...toolBefore({ tool: "x", args: {} }), workspace };
  return (await room.hooks.hooks.run(event, conversation())).answer;
}

test("what a hook may touch is shown with what a person should know", async () => {
  await room.write(
    "mine/guard.ts",
    "/** @hook at=tool.before,compact.before,custom.saved level=execute\n * @allow read=./rules run=git */ export default () => {}",
  );
  expect(await add("mine/guard.ts")).toMatchObject({
    ok: true,
    value: {
      name: "guard",
      granted: ["read=./rules", "run=git"],
      group: "guard",
      enabled: true,
      notes: [
        expect.stringContaining("nothing fires compact.before, custom.saved yet"),
        "run=git can start any other program",
      ],
    },
  });
  expect(await readFile(join(room.hooksDir, "hooks.d.ts"), "utf8")).toBe("export {};\n");
});

test("a hook comes with the files that it imports, and with no others, as a package", async () => {
  await room.write(
    "mine/guard.ts",
    `${header}\nimport { word } from "./lib/word.ts"; import list from "./list.json"; export default () => ({ answer: [word, ...list] })`,
  );
  await room.write("mine/lib/word.ts", "export const word: string = 'word'");
  await room.write("mine/list.json", "[1]");
  await room.write("mine/other.ts", `${header}\nexport default () => ({ block: 'nobody added me' })`);
  expect(await add("mine/guard.ts")).toMatchObject({ ok: true, value: { name: "guard", group: "guard" } });
  expect((await readdir(join(room.hooksDir, "guard"), { recursive: true })).sort()).toEqual([
    "guard.ts",
    "lib",
    "lib/word.ts",
    "list.json",
  ]);
  expect(await names()).toEqual(["guard"]);
  expect(await fire()).toEqual({ do: "answer", result: ["word", 1] });
  expect(await add("mine/guard.ts")).toMatchObject({ ok: false, failure: { code: "conflict" } });
  expect(await room.hooks.admin.remove("guard")).toMatchObject({ ok: true });
  expect(existsSync(join(room.hooksDir, "guard"))).toBe(false);
});

test("a folder of hooks is a package: each has a name, modules are none, relative paths start in it", async () => {
  await room.write(
    "mine/pack/a.ts",
    "/** @hook at=tool.before\n * @allow read=./data.txt */ export default async () => ({ answer: await Deno.readTextFile('./data.txt') })",
  );
  await room.write("mine/pack/pack.ts", "/** @hook at=tool.after */ export default () => {}");
  await room.write("mine/pack/module.ts", "export const a = 1");
  await room.write("mine/pack/data.txt", "data");
  await room.write("mine/pack/.secret", "x");
  await room.write("mine/pack/node_modules/m/index.js", "x");
  expect(await add("mine/pack")).toMatchObject({
    ok: true,
    value: { name: "pack", points: ["tool.after", "tool.before"], notes: ["hooks: pack, pack/a"] },
  });
  expect((await readdir(join(room.hooksDir, "pack"))).sort()).toEqual(["a.ts", "data.txt", "module.ts", "pack.ts"]);
  expect(await fire()).toEqual({ do: "answer", result: "data" });
  expect(await room.hooks.admin.remove("pack/a")).toMatchObject({ ok: true });
  expect(await names()).toEqual(["pack"]);
});

test("hooks of one package share what a module holds for them no more than others do", async () => {
  for (const name of ["a", "b"])
    await room.write(
      `hooks/pair/${name}.ts`,
      `${header}\nimport { seen } from "./seen.ts"; seen.push("${name}"); export default (e) => ({ modify: { ...e.value, args: { ...e.value.args, ${name}: seen } } })`,
    );
  await room.write("hooks/pair/seen.ts", "export const seen: string[] = []");
  expect(await fire()).toMatchObject({ do: "modify", value: { args: { a: ["a"], b: ["b"] } } });
});

test("what cannot be taken is refused with the reason, and nothing is left behind", async () => {
  await room.write("bad/broken.ts", `${header}\nexport default (`);
  await room.write("bad/point.ts", "/** @hook at=tool.befor */ export default () => {}");
  await room.write("bad/none.ts", "export default () => {}");
  await room.write("bad/text.txt", "x");
  await room.write("bad/data.json", '{"a":1}');
  await room.write("bad/settings.json", '{"hooks":{"PreToolUse":[{"hooks":[{"type":"prompt"}]}]}}');
  await room.write("bad/two.ts", `${header}\nimport "./one.ts"; export default () => {}`);
  await room.write("bad/one.ts", `${header}\nexport default () => {}`);
  await room.write("empty/module.ts", "export const a = 1");
  await room.write("half/good.ts", `${header}\nexport default () => {}`);
  await room.write("half/bad.ts", `${header}\nexport default (`);
  await mkdir(join(room.folder, "many"));
  await writeFile(join(room.folder, "many/hook.ts"), `${header}\nexport default () => {}`);
  for (let n = 0; n < 201; n += 1) await writeFile(join(room.folder, `many/${n}.txt`), "");
  const refusals: readonly (readonly [string, RegExp])[] = [
    ["bad/broken.ts", /^broken\.ts:2:/],
    ["bad/point.ts", /no hook point "tool\.befor"/],
    ["bad/none.ts", /does not begin with a @hook header/],
    ["bad/text.txt", /neither a \.ts nor a \.js file/],
    ["bad/data.json", /has no hooks in it/],
    ["bad/settings.json", /type is not "command"/],
    ["bad/two.ts", /imports one\.ts, which is a hook itself/],
    ["bad/nowhere.ts", /cannot be looked at/],
    ["empty", /has no hook in it/],
    ["half", /^bad\.ts:2:/],
    ["many", /more than 200 files/],
  ];
  for (const [path, message] of refusals)
    expect([path, await add(path)]).toMatchObject([
      path,
      { ok: false, failure: { message: expect.stringMatching(message) } },
    ]);
  expect((await readdir(room.hooksDir)).filter((name) => name !== "hooks.d.ts")).toEqual([]);
});

test("a file that lies in the folder already is shown when it is added", async () => {
  await room.write("hooks/here.ts", `${header} export default () => {}`);
  expect(await add("hooks/here.ts")).toMatchObject({ ok: true, value: { name: "here" } });
});

test("a settings file is added whole, and removed whole", async () => {
  const settings = {
    hooks: {
      PreToolUse: [{ hooks: [{ type: "command", command: "true" }] }],
      Notification: [{ hooks: [{ type: "command", command: "true" }] }],
    },
  };
  await room.write("mine/settings.json", JSON.stringify(settings));
  expect(await add("mine/settings.json")).toMatchObject({
    ok: true,
    value: {
      name: "settings",
      points: ["tool.before"],
      notes: expect.arrayContaining([
        "hooks: settings/PreToolUse.1, settings/Notification.1",
        "nothing fires Notification here: it never runs",
      ]),
    },
  });
  expect(await room.hooks.admin.remove("settings/PreToolUse.1")).toMatchObject({
    ok: false,
    failure: { hint: expect.stringContaining("claw hook remove settings") },
  });
  expect(await room.hooks.admin.enable("settings/PreToolUse.1", false)).toMatchObject({ ok: true });
  expect(await room.hooks.admin.remove("settings")).toMatchObject({ ok: true });
  expect(await names()).toEqual([]);
});

test("a package whose files come and go is looked at anew, and a link to itself holds back nothing", async () => {
  await room.write("hooks/pack/a.ts", `${header} export default () => ({ answer: 1 })`);
  expect(await fire()).toEqual({ do: "answer", result: 1 });
  await room.write("hooks/pack/a0.ts", "/** @hook at=tool.before priority=1 */ export default () => ({ answer: 0 })");
  expect(await fire()).toEqual({ do: "answer", result: 0 });
  await symlink("loop", join(room.hooksDir, "loop"));
  expect(await fire()).toEqual({ do: "answer", result: 0 });
  await room.hooks.admin.remove("pack");
  expect(await fire()).toEqual({ do: "pass" });
});

test("a hook that cannot be read blocks tools until it is mended", async () => {
  await room.write("hooks/broken.json", '{"hooks": {');
  expect(await fire()).toMatchObject({ do: "block", because: expect.stringContaining("broken.json: it is not JSON") });
  await room.write("hooks/broken.json", '{"words": []}');
  expect(await fire()).toEqual({ do: "pass" });
});
