import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PluginState } from "../proto/gen/clawd/v1/admin_pb.ts";
import { PluginChange } from "../proto/gen/clawd/v1/event_pb.ts";
import { makeZip } from "./fixtures/archives.ts";
import {
  bundleFixture,
  closeLab,
  type Lab,
  launcher,
  manifestOf,
  NOTHING_LEFT,
  openLab,
} from "./fixtures/plugin-lab.ts";
import { PLUGINS_JOURNAL } from "./service/plugin-records.ts";

const noBubblewrap = launcher.level !== "bubblewrap";
if (noBubblewrap) console.warn(`skipping the tests of confinement: ${launcher.detail}`);

let program: string;
let lab: Lab;
beforeAll(async () => {
  program = await bundleFixture("probing.ts");
});
beforeEach(async () => {
  lab = await openLab();
});
afterEach(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

const authored = (version: string, wants: readonly string[] = [], change: JsonObject = {}) =>
  lab.author(
    manifestOf("probe", {
      version,
      launch: { command: ["node", "main.mjs", lab.dir] },
      permissions: wants.map((permission) => ({ permission, reason: "a test" })),
      ...change,
    }),
    { "main.mjs": program.replace('version: "1.0.0"', `version: "${version}"`) },
  );
const act = (args: JsonObject = {}) => lab.call("plugin_probe_act", args);
const row = () => lab.host.admin.list().find(({ name }) => name === "probe");
const granted = async (version: string, wants: readonly string[] = []) => {
  expect(await lab.host.admin.install(authored(version, wants), true)).toMatchObject({ ok: true });
};
async function journalled() {
  const changes: object[] = [];
  const events = lab.journal.read(PLUGINS_JOURNAL, { after: 0, follow: false }, new AbortController().signal);
  for await (const { body } of events) if (body.case === "pluginChanged") changes.push(body.value);
  return changes;
}

describe("an upgrade", () => {
  test("that asks for nothing more is installed at once; what was taken back stays withheld", async () => {
    await granted("1.0.0", ["memory=read", "write=./data"]);
    expect(await lab.host.admin.revoke("probe", ["memory"], false)).toMatchObject({
      value: { granted: ["write=./data"] },
    });
    const upgraded = await lab.host.admin.upgrade(authored("1.1.0", ["memory=read", "write=./data"]), false);
    expect(upgraded).toMatchObject({ ok: true, value: { installed: true, replaces: "1.0.0" } });
    expect(row()).toMatchObject({ version: "1.1.0", granted: ["write=./data"], withheld: ["memory=read"] });
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("that asks for more is held across restarts while the old one runs, and granted later", async () => {
    await granted("1.0.0");
    expect(await act()).toMatchObject({ status: "done" });
    const next = authored("2.0.0", ["memory=read"]);
    expect(await lab.host.admin.upgrade(next, false)).toMatchObject({ value: { held: true, replaces: "1.0.0" } });
    rmSync(next, { recursive: true });
    await lab.reopen();
    expect(row()).toMatchObject({
      version: "1.0.0",
      heldVersion: "2.0.0",
      heldWants: [{ permission: "memory=read", reason: "a test" }],
    });
    expect(await act()).toMatchObject({ status: "done" });
    expect(await lab.host.admin.grant("probe", [], false)).toEqual({
      ok: true,
      value: { granted: ["memory=read"], version: "2.0.0" },
    });
    expect(row()).toMatchObject({ version: "2.0.0", granted: ["memory=read"] });
    expect(row()?.heldVersion).toBeUndefined();
    expect(await act()).toMatchObject({ status: "done" });
    await expect.poll(() => readdirSync(lab.options.pluginsDir)).toEqual(["probe"]);
  });

  test("that wants to hear what people say asks for more, although no permission is new", async () => {
    await granted("1.0.0");
    const nosy = authored("1.0.1", [], { hooks: [{ at: "message.received" }] });
    expect(await lab.host.admin.upgrade(nosy, false)).toMatchObject({ value: { held: true } });
    expect(row()?.heldWants).toMatchObject([{ permission: "hook message.received" }]);
  });

  test("whose hook hears more tools than before asks for more; fewer, limits and what a failure counts for are told", async () => {
    const hooked = (version: string, tools: string[], onError: string, memoryMib: number) =>
      authored(version, [], { hooks: [{ at: "tool.before", tools, onError }], limits: { memoryMib } });
    expect(await lab.host.admin.install(hooked("1.0.0", ["shell"], "deny", 256), true)).toMatchObject({ ok: true });
    const more = await lab.host.admin.look(hooked("1.1.0", ["shell", "read"], "deny", 256), false);
    expect(more).toMatchObject({
      value: { notes: ['new: it takes part in conversations as "hook tool.before of read"'] },
    });
    expect(await lab.host.admin.upgrade(hooked("1.1.0", [], "deny", 256), false)).toMatchObject({
      value: { held: true },
    });
    const other = hooked("1.2.0", ["shell"], "allow", 512);
    expect(await lab.host.admin.look(other, false)).toMatchObject({
      value: {
        notes: [
          "its limit memoryMib changes from 256 to 512",
          'when its hook at tool.before fails, "allow" counts, and no longer "deny"',
        ],
      },
    });
    expect(await lab.host.admin.upgrade(other, false)).toMatchObject({ value: { installed: true } });
  });

  test("of one that is turned off leaves it off, also when it is installed anew, and says so", async () => {
    await granted("1.0.0");
    expect(await lab.host.admin.enable("probe", false)).toMatchObject({ ok: true });
    const again = await lab.host.admin.install(authored("1.1.0"), false);
    expect(again).toMatchObject({ value: { installed: true, notes: [expect.stringContaining("it is turned off")] } });
    expect(row()).toMatchObject({ version: "1.1.0", state: PluginState.DISABLED });
    expect(await lab.host.admin.enable("probe", true)).toMatchObject({ ok: true });
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("that waited is taken without what was taken back before", async () => {
    await granted("1.0.0", ["memory=read"]);
    await lab.host.admin.revoke("probe", ["memory=read"], false);
    await lab.host.admin.upgrade(authored("2.0.0", ["memory=read", "write=./data"]), false);
    expect(await lab.host.admin.grant("probe", [], false)).toMatchObject({ value: { granted: ["write=./data"] } });
    expect(row()).toMatchObject({ version: "2.0.0", withheld: ["memory=read"] });
  });

  test("that waited and does not start is dropped, and the old one runs on", async () => {
    await granted("1.0.0");
    expect(await act()).toMatchObject({ status: "done" });
    const broken = authored("2.0.0", ["memory=read"], { launch: { command: ["node", "absent.mjs", lab.dir] } });
    writeFileSync(join(broken, "absent.mjs"), "process.exit(78)");
    expect(await lab.host.admin.upgrade(broken, false)).toMatchObject({ value: { held: true } });
    expect(await lab.host.admin.grant("probe", [], false)).toMatchObject({ ok: false });
    expect(row()).toMatchObject({ version: "1.0.0", state: PluginState.READY });
    expect(row()?.heldVersion).toBeUndefined();
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("whose held files were changed is not granted", async () => {
    await granted("1.0.0");
    await lab.host.admin.upgrade(authored("2.0.0", ["memory=read"]), false);
    writeFileSync(join(lab.options.pluginsDir, ".held-probe", "main.mjs"), "evil()");
    expect(await lab.host.admin.grant("probe", [], false)).toMatchObject({ failure: { code: "conflict" } });
    expect(row()).toMatchObject({ version: "1.0.0" });
  });

  test("that a crash cut before the data had moved keeps it; what waited for a plugin that is gone goes", async () => {
    await granted("1.0.0", ["write=./data"]);
    expect(await act({ write: "data/kept.txt" })).toMatchObject({ status: "done" });
    const { pluginsDir } = lab.options;
    const [folder, old] = [join(pluginsDir, "probe"), join(pluginsDir, ".old-probe")];
    await lab.host.close();
    cpSync(folder, old, { recursive: true });
    rmSync(join(folder, "data"), { recursive: true });
    mkdirSync(join(pluginsDir, ".held-ghost"));
    await lab.reopen();
    expect(readdirSync(pluginsDir)).toEqual(["probe"]);
    expect(await act({ read: "data/kept.txt" })).toEqual({ status: "done", output: "written" });
  });

  test("leaves what the old process still writes where the new one finds it", async () => {
    await granted("1.0.0", ["write=./data"]);
    const data = join(lab.options.pluginsDir, "probe", "data");
    expect(await act({ write: "data/first.txt" })).toMatchObject({ status: "done" });
    const inside = Promise.withResolvers<void>();
    const running = lab.call("plugin_probe_act", { wait: 1000 }, { progress: () => inside.resolve() });
    await inside.promise;
    expect(await lab.host.admin.upgrade(authored("1.1.0", ["write=./data"]), false)).toMatchObject({ ok: true });
    expect(await act({ write: "data/second.txt" })).toMatchObject({ status: "done" });
    expect(await running).toMatchObject({ status: "done" });
    expect(readdirSync(data).sort()).toEqual(["first.txt", "second.txt"]);
    await expect.poll(() => readdirSync(lab.options.pluginsDir)).toEqual(["probe"]);
    expect(readdirSync(data).sort()).toEqual(["first.txt", "second.txt"]);
  });

  test("does not cut a call that is under way", async () => {
    await granted("1.0.0");
    const inside = Promise.withResolvers<void>();
    const running = lab.call("plugin_probe_act", { wait: 1500 }, { progress: () => inside.resolve() });
    await inside.promise;
    expect(await lab.host.admin.upgrade(authored("1.1.0"), false)).toMatchObject({ value: { installed: true } });
    expect(row()).toMatchObject({ version: "1.1.0", state: PluginState.READY });
    expect(await running).toEqual({ status: "done", output: "at most 1" });
  });

  test("that does not start leaves the old one in its place, with its files, its data and its grant", async () => {
    await granted("1.0.0", ["write=./data"]);
    expect(await act({ write: "data/kept.txt" })).toMatchObject({ status: "done" });
    const broken = lab.author(
      manifestOf("probe", {
        version: "1.1.0",
        launch: { command: ["node", "main.mjs"] },
        permissions: [{ permission: "write=./data", reason: "a test" }],
      }),
      { "main.mjs": "process.exit(78)" },
    );
    expect(await lab.host.admin.upgrade(broken, false)).toMatchObject({ ok: false });
    expect(row()).toMatchObject({ version: "1.0.0", state: PluginState.READY });
    const host = await lab.reopen();
    expect(host.problems()).toEqual([]);
    expect(await act({ read: "data/kept.txt" })).toEqual({ status: "done", output: "written" });
  });

  test("whose grant cannot be written leaves the old one in its place and running", async () => {
    await granted("1.0.0");
    expect(await act()).toMatchObject({ status: "done" });
    const inTheWay = join(lab.options.grantsDir, "probe.json.new");
    mkdirSync(inTheWay);
    expect(await lab.host.admin.upgrade(authored("1.1.0"), false)).toMatchObject({ failure: { code: "unavailable" } });
    expect(row()).toMatchObject({ version: "1.0.0", state: PluginState.READY });
    rmSync(inTheWay, { recursive: true });
    const host = await lab.reopen();
    expect(host.problems()).toEqual([]);
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("takes along a folder of data inside another, whichever is named first", async () => {
    const wants = ["write=./data/deep", "write=./data"];
    await granted("1.0.0", wants);
    expect(await act({ write: "data/deep/kept.txt" })).toMatchObject({ status: "done" });
    expect(await lab.host.admin.upgrade(authored("1.1.0", wants), false)).toMatchObject({ ok: true });
    expect(await act({ read: "data/deep/kept.txt" })).toEqual({ status: "done", output: "written" });
  });

  test("is not what was agreed to when it changed after it was shown", async () => {
    const shown = await lab.host.admin.look(authored("1.0.0"));
    const seen = shown.ok ? (shown.value.manifestSha256 ?? "") : "";
    const later = authored("1.0.0", ["net"]);
    expect(await lab.host.admin.install(later, true, seen)).toMatchObject({ failure: { code: "conflict" } });
    expect(readdirSync(lab.options.pluginsDir)).toEqual([]);
  });

  test("of nothing is no way around the first question", async () => {
    expect(await lab.host.admin.upgrade(authored("1.0.0"), false)).toMatchObject({ failure: { code: "denied" } });
    expect(readdirSync(lab.options.pluginsDir)).toEqual([]);
  });
});

describe.skipIf(noBubblewrap)("what is taken back, in the sandbox", () => {
  test("is gone at once, stays gone after a restart, and comes back when it is granted again", async () => {
    const folder = join(lab.dir, "shared");
    mkdirSync(folder);
    writeFileSync(join(folder, "note.txt"), "hello");
    await granted("1.0.0", [`read=${folder}`, "write=./data"]);
    const read = () => act({ read: join(folder, "note.txt") });
    expect(await read()).toEqual({ status: "done", output: "hello" });
    const pid = row()?.pid ?? 0;
    expect(await lab.host.admin.revoke("probe", [`read=${folder}`], false)).toMatchObject({ ok: true });
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(await read()).toMatchObject({ status: "failed" });
    await lab.reopen();
    expect(await read()).toMatchObject({ status: "failed" });
    expect(row()).toMatchObject({ withheld: [`read=${folder}`] });
    expect(await lab.host.admin.grant("probe", ["read"], false)).toMatchObject({ ok: true });
    expect(await read()).toEqual({ status: "done", output: "hello" });
  });

  test("takes its own folder from it, but not the data in there", async () => {
    await granted("1.0.0", ["write=./data"]);
    expect(await act({ write: "data/kept.txt" })).toMatchObject({ status: "done" });
    await lab.host.admin.revoke("probe", [], false);
    expect(await act({ write: "data/more.txt" })).toMatchObject({ status: "failed" });
    expect(await act({ read: "data/kept.txt" })).toEqual({ status: "done", output: "written" });
    await lab.host.admin.grant("probe", [], false);
    expect(await act({ write: "data/more.txt" })).toMatchObject({ status: "done" });
  });
});

test("only what it asks for can be granted or taken back, and only from what is there", async () => {
  await granted("1.0.0", ["memory=read"]);
  const failure = {
    code: "invalid",
    message: 'plugin "probe" does not ask for "net"',
    hint: "it asks for: memory=read",
  };
  expect(await lab.host.admin.grant("probe", ["net"], false)).toEqual({ ok: false, failure });
  expect(await lab.host.admin.revoke("probe", ["net"], false)).toEqual({ ok: false, failure });
  expect(await lab.host.admin.revoke("ghost", [], false)).toMatchObject({
    failure: { code: "not_found", message: "Plugin 'ghost' not found" },
  });
});

test("a kind means everything of that kind, however it is written", async () => {
  await granted("1.0.0", ["net", "net = example.com:443", "memory=read"]);
  expect(await lab.host.admin.revoke("probe", ["net"], false)).toMatchObject({ value: { granted: ["memory=read"] } });
});

test("trust is given and taken by itself", async () => {
  expect(await lab.host.admin.install(authored("1.0.0", ["memory=read"]), false)).toMatchObject({ ok: true });
  await lab.host.admin.grant("probe", [], true);
  expect(row()).toMatchObject({ trusted: true, granted: ["memory=read"] });
  await lab.host.admin.revoke("probe", [], true);
  expect(row()).toMatchObject({ trusted: false, granted: ["memory=read"], withheld: [] });
});

test("every change is on record", async () => {
  await granted("1.0.0", ["memory=read"]);
  await lab.host.admin.revoke("probe", [], false);
  await lab.host.admin.grant("probe", [], false);
  await lab.host.admin.upgrade(authored("2.0.0", ["memory=read", "net"]), false);
  await lab.host.admin.enable("probe", false);
  await lab.host.admin.enable("probe", true);
  await lab.host.admin.remove("probe");
  const { INSTALLED, REVOKED, GRANTED, HELD, DISABLED, ENABLED, REMOVED } = PluginChange;
  expect(await journalled()).toMatchObject([
    { plugin: "probe", change: INSTALLED, version: "1.0.0", granted: ["memory=read"], trusted: true },
    { change: REVOKED, granted: [] },
    { change: GRANTED, granted: ["memory=read"] },
    { change: HELD, filesSha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    { change: DISABLED },
    { change: ENABLED },
    { change: REMOVED, granted: [], filesSha256: "" },
  ]);
  expect(readdirSync(lab.options.pluginsDir)).toEqual([]);
});

describe("where plugins come from", () => {
  test("an archive is looked at, installed and runs; nothing of it is left beside", async () => {
    const folder = authored("1.0.0");
    const file = join(lab.dir, "plugin.tgz");
    execFileSync("tar", ["-czf", file, "-C", join(folder, ".."), "probe"]);
    expect(await lab.host.admin.look(file)).toMatchObject({ value: { name: "probe" } });
    expect(readdirSync(lab.options.pluginsDir)).toEqual([]);
    expect(await lab.host.admin.install(file, true)).toMatchObject({ ok: true });
    expect(readdirSync(lab.options.pluginsDir)).toEqual(["probe"]);
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("a zip without a folder around is one too", async () => {
    const folder = authored("1.0.0");
    const file = join(lab.dir, "plugin.zip");
    const parts = readdirSync(folder).map((path) => ({ path, text: readFileSync(join(folder, path)) }));
    writeFileSync(file, makeZip(parts));
    expect(await lab.host.admin.install(file, true)).toMatchObject({ ok: true });
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("failures name what the person named", async () => {
    const file = join(lab.dir, "plugin.zip");
    writeFileSync(file, makeZip([{ path: "plugin.json", text: '{ "nmae": "x" }' }]));
    const looked = await lab.host.admin.look(file);
    expect(looked.ok ? "" : looked.failure.message).toContain(`${file}/plugin.json`);
    writeFileSync(join(lab.dir, "notes.txt"), "hello");
    expect(await lab.host.admin.look(join(lab.dir, "notes.txt"))).toMatchObject({ failure: { code: "invalid" } });
    expect(await lab.host.admin.look(join(lab.dir, "absent"))).toMatchObject({ failure: { code: "not_found" } });
    expect(readdirSync(lab.options.pluginsDir)).toEqual([]);
  });

  test.skipIf(noBubblewrap)("a single executable is asked in an empty sandbox, and installed", async () => {
    const file = join(lab.dir, "legacy.sh");
    const answer = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { name: "legacy", version: "1.2.3" } });
    writeFileSync(file, `#!/bin/sh\nread line\necho '${answer}'\ncat > /dev/null\n`, { mode: 0o755 });
    expect(await lab.host.admin.look(file)).toMatchObject({ value: { name: "legacy", version: "1.2.3" } });
    expect(await lab.host.admin.install(file, false)).toMatchObject({ ok: true });
    expect(readdirSync(join(lab.options.pluginsDir, "legacy")).sort()).toEqual(["plugin.json", "program"]);
  });

  test("an executable that lies among the plugins is named and never run; other files are nothing", async () => {
    const { pluginsDir } = lab.options;
    const mark = join(lab.dir, "was-run");
    for (const name of ["good.sh", ".hidden.sh", "plain.sh"])
      writeFileSync(join(pluginsDir, name), `#!/bin/sh\ntouch ${mark}\n`);
    for (const name of ["good.sh", ".hidden.sh"]) chmodSync(join(pluginsDir, name), 0o755);
    const host = await lab.reopen();
    const file = join(pluginsDir, "good.sh");
    expect(host.problems()).toEqual([
      {
        code: "denied",
        message: `${file} is an executable that nobody installed`,
        hint: `if it speaks JSON-RPC, install it: claw plugin install ${file}`,
      },
    ]);
    expect(host.admin.list()).toMatchObject([{ name: "good.sh", state: PluginState.REFUSED }]);
    symlinkSync(file, join(pluginsDir, "link.sh"));
    expect(existsSync(mark)).toBe(false);
  });
});

test("a plugin that needs another says so, and so does removing that one", async () => {
  const needy = lab.author(
    manifestOf("needy", { launch: { command: ["node", "main.mjs", lab.dir] }, dependencies: ["probe"] }),
    { "main.mjs": program },
  );
  expect(await lab.host.admin.install(needy, true)).toMatchObject({
    value: { notes: [expect.stringContaining('it needs the plugin "probe"')] },
  });
  expect(lab.host.admin.list()).toMatchObject([{ name: "needy", state: PluginState.REFUSED }]);
  await granted("1.0.0");
  expect(lab.host.problems()).toEqual([]);
  expect(await lab.host.admin.remove("probe")).toEqual({
    ok: true,
    value: ['the plugin "needy" needs it and does not run without it'],
  });
});
