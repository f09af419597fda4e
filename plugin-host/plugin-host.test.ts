import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PluginState } from "../proto/gen/clawd/v1/admin_pb.ts";
import { openLocalNet } from "../sandbox/egress/fixtures/local-net.ts";
import {
  bareLauncher,
  bundleFixture,
  closeLab,
  type Lab,
  launcher,
  manifestOf,
  NOTHING_LEFT,
  openLab,
  processesWith,
  shortPauses,
} from "./fixtures/plugin-lab.ts";
import { placeStaged, stagePlugin } from "./install/install.ts";

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

type Change = Parameters<typeof manifestOf>[1];
const authored = (change: Change = {}) =>
  lab.author(manifestOf("probe", { launch: { command: ["node", "main.mjs", lab.dir] }, ...change }), {
    "main.mjs": program,
  });
const install = async (change: Change = {}, trust = true) => {
  const installed = await lab.host.admin.install(authored(change), trust);
  expect(installed).toMatchObject({ ok: true });
};
const wants = (...permissions: string[]) => ({
  permissions: permissions.map((permission) => ({ permission, reason: "a test" })),
});
const act = (args: Parameters<Lab["call"]>[1] = {}) => lab.call("plugin_probe_act", args);
const row = () => lab.host.admin.list()[0];

describe("a plugin's life", () => {
  test("it starts with the first call, not with the host, and only once", async () => {
    await install();
    expect(row()).toMatchObject({ state: PluginState.IDLE, pid: 0 });
    expect(processesWith(lab.dir)).toEqual([]);
    const outcomes = await Promise.all([act(), act(), act()]);
    expect(outcomes).toEqual(Array(3).fill({ status: "done", output: "nothing" }));
    const log = lab.host.admin.log("probe");
    expect(log.ok && log.value.filter((line) => line.startsWith("host: started"))).toHaveLength(1);
    expect(row()).toMatchObject({ state: PluginState.READY, restarts: 0 });
  });

  test("it is there after a restart of the daemon, with its grant", async () => {
    await install(wants("memory=read"));
    const host = await lab.reopen();
    expect(host.tools().map(({ name }) => name)).toEqual(["plugin_probe_act"]);
    expect(host.admin.list()).toMatchObject([{ name: "probe", granted: ["memory=read"], trusted: true }]);
    expect(await act()).toEqual({ status: "done", output: "nothing" });
  });

  test("what the tool throws is told to the model as an error", async () => {
    await install();
    expect(await act({ fail: "no such city" })).toMatchObject({
      status: "failed",
      output: "no such city",
      failure: { code: "invalid" },
    });
  });

  test("no more calls run at once than it allows; more wait; too many are refused", async () => {
    await install({ limits: { concurrentCalls: 2 } });
    const outcomes = await Promise.all(Array.from({ length: 70 }, () => act({ wait: 5 })));
    const done = outcomes.filter(({ status }) => status === "done");
    expect(new Set(done.map(({ output }) => output))).toEqual(new Set(["at most 2"]));
    expect(done).toHaveLength(66);
    expect(outcomes.find(({ status }) => status === "failed")).toMatchObject({ failure: { code: "exhausted" } });
  });

  test("a call that is cancelled while it waits leaves the line", async () => {
    await install({ limits: { concurrentCalls: 1 } });
    const [first, second] = [new AbortController(), new AbortController()];
    const inside = Promise.withResolvers<void>();
    const running = lab.call(
      "plugin_probe_act",
      { wait: 60_000 },
      { signal: first.signal, progress: () => inside.resolve() },
    );
    await inside.promise;
    const waiting = lab.call("plugin_probe_act", { wait: 0 }, { signal: second.signal });
    second.abort();
    expect(await waiting).toMatchObject({ failure: { code: "cancelled" } });
    first.abort();
    expect(await running).toMatchObject({ failure: { code: "cancelled" } });
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("after five crashes it rests, says until when, and reload starts it at once", async () => {
    lab = await reopenLab({ random: shortPauses });
    await install();
    for (let crash = 0; crash < 5; crash++) {
      expect(await act()).toMatchObject({ status: "done" });
      process.kill(row()?.pid ?? 0, "SIGKILL");
      await expect.poll(() => row()?.state).toBe(PluginState.BACKING_OFF);
    }
    const resting = {
      status: "failed",
      failure: {
        code: "unavailable",
        message: expect.stringMatching(/SIGKILL and crashed too often; it may start again in (300\.0|2\d\d\.\d) s$/),
      },
    };
    expect(await act()).toMatchObject(resting);
    expect(lab.host.problems()).toHaveLength(1);
    expect(await lab.host.admin.reload("probe")).toEqual({ ok: true, value: undefined });
    expect(row()).toMatchObject({ state: PluginState.READY });
  });
});

describe("grants", () => {
  test("looking at a plugin shows what it asks for and changes nothing", async () => {
    const folder = authored(wants("net=api.example.com:443", "write=./data"));
    expect(await lab.host.admin.look(folder)).toEqual({
      ok: true,
      value: {
        name: "probe",
        version: "1.0.0",
        description: "",
        author: "",
        wants: [
          {
            permission: "net=api.example.com:443",
            reason: "a test",
            grantedBefore: false,
          },
          { permission: "write=./data", reason: "a test", grantedBefore: false },
        ],
        tools: ["plugin_probe_act"],
        offers: [],
        installed: false,
        replaces: "",
        notes: [],
        noLonger: [],
        manifestSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect(readdirSync(lab.options.pluginsDir)).toEqual([]);
    expect(lab.host.tools()).toEqual([]);
  });

  test("a plugin put into the folder by hand is refused until it is installed from there", async () => {
    mkdirSync(lab.options.pluginsDir, { recursive: true });
    renameSync(authored(), join(lab.options.pluginsDir, "probe"));
    expect(lab.host.tools()).toEqual([]);
    expect(row()).toMatchObject({
      state: PluginState.REFUSED,
      failure: { message: 'plugin "probe" was never granted anything' },
    });
    const folder = join(lab.options.pluginsDir, "probe");
    expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("a changed file is refused before it runs, and installing again grants it", async () => {
    await install();
    appendFileSync(join(lab.options.pluginsDir, "probe", "main.mjs"), "\n// changed");
    const refused = {
      failure: { code: "denied", message: 'the files of plugin "probe" are not the ones that were granted' },
    };
    expect(await act()).toMatchObject(refused);
    expect(processesWith(lab.dir)).toEqual([]);
    await install();
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("a changed manifest offers no tool, and says what more it asks for", async () => {
    await install();
    const file = join(lab.options.pluginsDir, "probe", "plugin.json");
    const manifest = JSON.parse(readFileSync(file, "utf8")) as object;
    writeFileSync(file, JSON.stringify({ ...manifest, version: "1.1.0", ...wants("net") }));
    const host = await lab.reopen();
    expect(host.tools()).toEqual([]);
    expect(host.problems()).toMatchObject([
      { code: "denied", message: 'plugin "probe" 1.1.0 is not what was granted (1.0.0); it asks for more: net' },
    ]);
  });

  test("an upgrade marks what is new, keeps the plugin's own data and lets the old process go", async () => {
    await install(wants("write=./data"));
    const data = join(lab.options.pluginsDir, "probe", "data", "kept.txt");
    expect(await act({ write: data })).toEqual({ status: "done", output: "written" });
    const upgrade = authored(wants("write=./data", "memory=read"));
    expect(await lab.host.admin.look(upgrade)).toMatchObject({
      value: { wants: [{ grantedBefore: true }, { grantedBefore: false }], installed: true, replaces: "1.0.0" },
    });
    const old = row()?.pid ?? 0;
    expect(await lab.host.admin.install(upgrade, true)).toMatchObject({ ok: true });
    await expect.poll(() => existsSync(`/proc/${old}`)).toBe(false);
    await expect.poll(() => readdirSync(lab.options.pluginsDir)).toEqual(["probe"]);
    expect(readFileSync(data, "utf8")).toBe("written");
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("turned off it offers nothing, turned on it does again; both survive a restart", async () => {
    await install();
    expect(await act()).toMatchObject({ status: "done" });
    expect(await lab.host.admin.enable("probe", false)).toEqual({ ok: true, value: undefined });
    expect(processesWith(lab.dir)).toEqual([]);
    const host = await lab.reopen();
    expect(host.admin.list()).toMatchObject([{ state: PluginState.DISABLED }]);
    expect({ tools: host.tools(), problems: host.problems() }).toEqual({ tools: [], problems: [] });
    expect(await host.admin.reload("probe")).toMatchObject({ ok: false, failure: { code: "conflict" } });
    await host.admin.enable("probe", true);
    expect(await act()).toMatchObject({ status: "done" });
    expect(await host.admin.reload("./probe")).toMatchObject({ failure: { message: "Plugin './probe' not found" } });
    expect(host.admin.list()).toMatchObject([{ name: "probe" }]);
  });

  test("removed it is gone with its grant, its process and its files", async () => {
    await install();
    expect(await act()).toMatchObject({ status: "done" });
    expect(await lab.host.admin.remove("probe")).toEqual({ ok: true, value: [] });
    expect(processesWith(lab.dir)).toEqual([]);
    expect(readdirSync(lab.options.pluginsDir)).toEqual([]);
    expect(readdirSync(lab.options.grantsDir)).toEqual([]);
    expect(await lab.host.admin.remove("probe")).toMatchObject({ ok: false, failure: { code: "not_found" } });
  });

  test("a broken plugin is named, and the others run", async () => {
    await install();
    const folder = join(lab.options.pluginsDir, "broken");
    mkdirSync(folder);
    writeFileSync(join(folder, "plugin.json"), '{ "manifestVersion": 1, "nmae": "broken" }');
    const host = await lab.reopen();
    const file = join(folder, "plugin.json");
    expect(host.problems()).toEqual([
      { code: "invalid", message: `${file}: unknown key "nmae"`, hint: 'did you mean "name"?' },
    ]);
    expect(host.admin.list()).toMatchObject([
      { name: "broken", state: PluginState.REFUSED },
      { name: "probe", state: PluginState.IDLE },
    ]);
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("a folder that is a link is refused, and a stray file is no plugin", async () => {
    symlinkSync(authored(), join(lab.options.pluginsDir, "probe"));
    writeFileSync(join(lab.options.pluginsDir, "notes.txt"), "hello");
    const link = join(lab.options.pluginsDir, "probe");
    expect(lab.host.problems()).toEqual([
      {
        code: "invalid",
        message: `${link} is a symbolic link`,
        hint: `install a copy of it: claw plugin install ${link}`,
      },
    ]);
    expect(await lab.host.admin.install(link, true)).toMatchObject({ ok: true });
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("an install that a crash cut in two is mended by the next start", async () => {
    await install();
    const { pluginsDir } = lab.options;
    renameSync(join(pluginsDir, "probe"), join(pluginsDir, ".old-probe"));
    mkdirSync(join(pluginsDir, ".new-probe"));
    await lab.reopen();
    expect(readdirSync(pluginsDir)).toEqual(["probe"]);
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("an install that fails after the old plugin was put aside brings it back", async () => {
    await install();
    const { pluginsDir, sdkFile } = lab.options;
    const staged = await stagePlugin({ pluginsDir, sdkFile, reserved: [] }, "probe", authored());
    if (!staged.ok) throw new Error(staged.failure.message);
    rmSync(staged.value.staging, { recursive: true });
    const failing = { ...staged.value, staging: join(pluginsDir, ".new-absent") };
    expect(await placeStaged(failing)).toMatchObject({ ok: false, failure: { code: "unavailable" } });
    expect(readdirSync(pluginsDir)).toEqual(["probe"]);
    expect(await act()).toMatchObject({ status: "done" });
  });

  test("a plugin may write a file that it brings along", async () => {
    const permissions = [{ permission: "write=./state.json", reason: "a test" }];
    const files = { "main.mjs": program, "state.json": "{}" };
    const launch = { command: ["node", "main.mjs", lab.dir] };
    const folder = lab.author(manifestOf("probe", { permissions, launch }), files);
    expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
    expect(await act({ write: "state.json" })).toEqual({ status: "done", output: "written" });
  });

  test("spaces in a permission do not hide what it opens", async () => {
    expect(await lab.host.admin.look(authored(wants(" net ", " run=git")))).toMatchObject({
      value: {
        wants: [{ reason: /every public address/ }, { reason: /these programs and no others/ }].map(({ reason }) => ({
          reason: expect.stringMatching(reason),
        })),
      },
    });
  });

  test("a plugin that holds a link, or bundles a file from outside, is not installed", async () => {
    const linked = authored();
    symlinkSync("/etc/passwd", join(linked, "words.txt"));
    expect(await lab.host.admin.install(linked, true)).toMatchObject({
      ok: false,
      failure: { code: "invalid", message: expect.stringContaining("words.txt is a symbolic link") },
    });
    writeFileSync(join(lab.dir, "secret.txt"), "secret");
    const thief = lab.author(manifestOf("thief", { launch: { command: ["node", "main.ts"] } }), {
      "main.ts": 'import secret from "../../secret.txt"; import "../../../../../secret.txt"; console.log(secret);',
    });
    expect(await lab.host.admin.install(thief, true)).toMatchObject({ ok: false, failure: { code: "invalid" } });
    expect(readdirSync(lab.options.pluginsDir)).toEqual([]);
  });

  test.each([
    ["write=.", 'would let it change itself: name a folder of its own, e.g. "write=./data"'],
    ["write=../other", "which is clawd's own"],
    ["write", 'is too much: name the folders, e.g. "write=./data"'],
    ["read", 'is too much: name the folders, e.g. "read=./data"'],
    ["env=HOME", "is a variable that each plugin has of its own"],
    ["sys=hostname", "means nothing for a plugin"],
    ["memory=write", 'is not offered to plugins: only "memory=read" is'],
    ["memory=read:notes", 'is not offered to plugins: only "memory=read" is'],
  ])("%s cannot be granted", async (permission, problem) => {
    const looked = await lab.host.admin.look(authored(wants(permission)));
    expect(looked).toMatchObject({
      ok: false,
      failure: { code: "invalid", message: expect.stringContaining(problem) },
    });
  });
});

describe.skipIf(noBubblewrap)("in the sandbox", () => {
  test("it reads its own folder and what was granted, nothing else", async () => {
    const [granted, other] = [join(lab.dir, "granted"), join(lab.dir, "other.txt")];
    mkdirSync(granted);
    for (const file of [join(granted, "yes.txt"), other]) writeFileSync(file, "content");
    await install(wants(`read=${granted}`));
    expect(await act({ read: join(granted, "yes.txt") })).toEqual({ status: "done", output: "content" });
    expect(await act({ read: "plugin.json" })).toMatchObject({ status: "done" });
    expect(await act({ read: other })).toMatchObject({ status: "failed", output: expect.stringContaining("ENOENT") });
    expect(await act({ read: join(lab.options.grantsDir, "probe.json") })).toMatchObject({ status: "failed" });
    expect(await act({ write: join(granted, "no.txt") })).toMatchObject({
      status: "failed",
      output: expect.stringContaining("EROFS"),
    });
    expect(await act({ write: "main.mjs" })).toMatchObject({
      status: "failed",
      output: expect.stringContaining("EROFS"),
    });
  });

  test("clawd's own folders are hidden even below a granted one", async () => {
    await install(wants(`read=${lab.dir}`));
    expect(await act({ read: "plugin.json" })).toMatchObject({ status: "done" });
    expect(await act({ read: join(lab.options.grantsDir, "probe.json") })).toMatchObject({
      status: "failed",
      output: expect.stringContaining("ENOENT"),
    });
  });

  test("it has no network unless it was granted some", async () => {
    const net = openLocalNet();
    const dial = await net.serve("127.0.0.1", (_, response) => response.end("reached"));
    const other = await net.serve("127.0.0.1", (_, response) => response.end("must not be reached"));
    const [visit, visitOther] = [dial, other].map((port) => ({ visit: `http://127.0.0.1:${port}/` }));
    // There is nothing at that address in its own network, and where the kernel has Landlock it may not even ask.
    const refused = {
      status: "done",
      output: expect.stringMatching(`^connect (ECONNREFUSED|EACCES) 127\\.0\\.0\\.1:${dial}`),
    };
    const failed = { status: "done", output: "failed" };
    await install();
    expect(await act({ dial })).toEqual(refused);
    expect(await act(visit)).toEqual(failed);
    await install(wants("net"));
    expect(await act(visit)).toEqual(failed);
    await install(wants(`net=127.0.0.1:${dial}`));
    expect(await act(visit)).toEqual({ status: "done", output: "reached" });
    expect(await act(visitOther)).toEqual(failed);
    expect(await act({ dial })).toEqual(refused);
    const line = `host: net=127.0.0.1:${other} is not granted; grant it with --allow-net=127.0.0.1:${other}`;
    expect(lab.host.admin.log("probe")).toMatchObject({ ok: true, value: expect.arrayContaining([line]) });
    net.close();
  });

  test("it gets no variable of the daemon, and those of its manifest", async () => {
    await install({ launch: { command: ["node", "main.mjs", lab.dir], env: { CITY: "Ulm" } } });
    expect(await act({ env: "CITY" })).toEqual({ status: "done", output: '"Ulm"' });
    expect(await act({ env: "VITEST" })).toEqual({ status: "done", output: "null" });
  });

  test("out of memory it dies alone, and the next call finds it alive", async () => {
    lab = await reopenLab({ random: shortPauses });
    await install({ limits: { memoryMib: 128 } });
    expect(await act({ spend: 512 })).toMatchObject({
      status: "failed",
      failure: { code: "unavailable", message: expect.stringContaining("during the call") },
    });
    expect(await act()).toEqual({ status: "done", output: "nothing" });
  });

  test("a granted path that is missing is named before anything starts", async () => {
    await install(wants("read=/no/such/folder"));
    expect(await act()).toMatchObject({
      failure: { code: "not_found", message: "the granted path /no/such/folder does not exist" },
    });
  });
});

describe("without a sandbox", () => {
  test("a plugin that is not trusted does not start, and the failure says what to do", async () => {
    lab = await reopenLab({ launcher: bareLauncher });
    await install({}, false);
    expect(row()).toMatchObject({ state: PluginState.REFUSED });
    expect(await act()).toMatchObject({
      failure: {
        code: "denied",
        hint: expect.stringMatching(/apt-get install bubblewrap.*claw plugin grant probe --trust/),
      },
    });
    expect(processesWith(lab.dir)).toEqual([]);
    expect(await lab.host.admin.grant("probe", [], true)).toMatchObject({ ok: true });
    expect(await act()).toEqual({ status: "done", output: "nothing" });
    expect(await lab.host.admin.revoke("probe", [], true)).toMatchObject({ ok: true });
    expect(processesWith(lab.dir)).toEqual([]);
    expect(await act()).toMatchObject({ failure: { code: "denied" } });
  });
});

test("folders for grants and sockets are the owner's alone", async () => {
  await install();
  expect(await act()).toMatchObject({ status: "done" });
  const [socketFolder] = readdirSync(lab.options.runtimeDir);
  const folders = [lab.options.runtimeDir, lab.options.grantsDir, join(lab.options.runtimeDir, socketFolder ?? "")];
  expect(folders.map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
  expect(statSync(join(lab.options.grantsDir, "probe.json")).mode & 0o777).toBe(0o600);
});

/** The lab of this test, opened anew with other options. */
async function reopenLab(change: Parameters<typeof openLab>[0]): Promise<Lab> {
  await lab.close();
  return openLab(change);
}
