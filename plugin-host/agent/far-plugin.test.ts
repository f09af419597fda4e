import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ok } from "../../core/domain/failure.ts";
import { PluginState } from "../../proto/gen/clawd/v1/admin_pb.ts";
import { parsePermission } from "../../sandbox/permission/permission.ts";
import { certain } from "../fixtures/far-place.ts";
import { closeLab, type Lab, launcher, manifestOf, NOTHING_LEFT, openLab, sdkFile } from "../fixtures/plugin-lab.ts";
import { machineClock } from "../life/clock.ts";
import { runAgent } from "./agent.ts";
import { bringPlugin } from "./brought-plugin.ts";

const PROGRAM = `
  import { readFileSync } from "node:fs";
  import { servePlugin, tool } from "clawd/plugin";
  const act = tool<{ what: string; path?: string }>({
    name: "act",
    run: async ({ what, path = "" }, { host, progress, signal }) => {
      if (what === "read") return readFileSync(path, "utf8");
      if (what === "variable") return process.env.FAR_WORD ?? "none";
      if (what === "recall") return JSON.stringify(await host.recall("what?"));
      if (what === "store") { await host.store.set("a", 1); return "kept"; }
      if (what === "log") { await host.log("from afar"); return "logged"; }
      if (what === "wait") {
        progress("waiting");
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      }
      return "done";
    },
  });
  await servePlugin({ name: "far", version: "1.0.0", tools: [act] });
`;

let lab: Lab;
let dir: string;
const stops: (() => Promise<void>)[] = [];
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "fp-"));
  lab = await openLab({
    remote: { dir: join(dir, "remote"), listen: "127.0.0.1:0", address: "", certificateMs: 3_600_000, log: () => {} },
    env: { FAR_WORD: "of the daemon" },
    recall: async () => ok([]),
  });
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
  rmSync(dir, { recursive: true, force: true });
});

function write(change: JsonObject = {}): string {
  const folder = join(dir, "authored");
  mkdirSync(folder, { recursive: true });
  const version = typeof change.version === "string" ? change.version : "1.0.0";
  writeFileSync(join(folder, "main.ts"), PROGRAM.replace("1.0.0", version));
  const manifest = manifestOf("far", { protocolMajors: [1, 2], launch: { command: ["node", "main.ts"] }, ...change });
  writeFileSync(join(folder, "plugin.json"), JSON.stringify(manifest));
  return folder;
}

/** An agent in this process; the value ends it. */
async function startAgent(folder: string, token: string, ...flags: string[]): Promise<() => Promise<void>> {
  const allow = flags.flatMap((one) => {
    const parsed = parsePermission(one, folder);
    return parsed.ok ? parsed.value : [];
  });
  const [stateDir, runtimeDir] = [join(dir, "state"), mkdtempSync(join(tmpdir(), "fr-"))];
  mkdirSync(stateDir, { recursive: true });
  const clock = machineClock(Date.now);
  const common = { stateDir, clock, log: () => {} };
  const plugin = certain(
    await bringPlugin(
      {
        ...common,
        ...{ sdkFile, launcher, nodeBinary: process.execPath, env: { FAR_WORD: "of the agent" } },
        ...{ allowed: { allow, deny: [] }, trusted: true },
      },
      folder,
    ),
  );
  const ending = new AbortController();
  const parts = { ...common, plugin, runtimeDir, token, listen: "", random: randomBytes, onListening: () => {} };
  const ended = runAgent(parts, ending.signal);
  let isOver = false;
  const stop = async () => {
    if (isOver) return;
    isOver = true;
    ending.abort();
    certain(await ended);
    rmSync(runtimeDir, { recursive: true, force: true });
  };
  stops.push(stop);
  return stop;
}

const row = () => lab.host.admin.list().find(({ name }) => name === "far");
const enrol = async (services = false) =>
  certain(await lab.host.admin.enrol("far", { address: "", services }, 60_000)).token;
const isOffered = () => expect.poll(() => row()?.version).toBe("1.0.0");
const install = async () => certain(await lab.host.admin.install("remote:far", false));
const act = (what: string, more: JsonObject = {}) => lab.call("plugin_far_act", { what, ...more });

test("a plugin of another machine is looked at, granted and called like any other", async () => {
  const token = await enrol();
  expect(row()).toMatchObject({ state: PluginState.NOT_CONNECTED });
  await startAgent(write({ permissions: [{ permission: "memory=read", reason: "to know" }] }), token);
  await isOffered();
  expect(row()).toMatchObject({ state: PluginState.REFUSED, failure: { hint: expect.stringContaining("remote:far") } });
  expect(certain(await lab.host.admin.look("remote:far"))).toMatchObject({ wants: [{ permission: "memory=read" }] });
  await install();
  expect(await act("recall")).toEqual({ status: "done", output: "[]" });
  expect(await act("log")).toEqual({ status: "done", output: "logged" });
  expect(row()).toMatchObject({ state: PluginState.READY, pid: 0, wire: "gRPC, major 2" });
  expect(await act("store")).toMatchObject({ status: "failed", output: expect.stringContaining("another machine") });
});

test("with services it keeps values here", async () => {
  await startAgent(write(), await enrol(true));
  await isOffered();
  await install();
  expect(await act("store")).toEqual({ status: "done", output: "kept" });
});

test("it touches what both sides allow, and sees its own machine's variables, never the daemon's", async () => {
  const data = join(dir, "data");
  mkdirSync(data);
  writeFileSync(join(data, "a.txt"), "the file");
  const permissions = [
    { permission: `read=${data}`, reason: "data" },
    { permission: "env=FAR_WORD", reason: "word" },
  ];
  const token = await enrol();
  const stop = await startAgent(write({ permissions }), token, `read=${data}`, "env=FAR_WORD");
  await isOffered();
  await install();
  expect(await act("variable")).toEqual({ status: "done", output: "of the agent" });
  if (launcher.level !== "none") {
    expect(await act("read", { path: join(data, "a.txt") })).toEqual({ status: "done", output: "the file" });
    expect(await act("read", { path: join(dir, "state", "identity.json") })).toMatchObject({ status: "failed" });
  }
  await stop();
  await expect.poll(() => row()?.state).toBe(PluginState.NOT_CONNECTED);
  // The owner of that machine allows less now.
  await startAgent(write({ permissions }), "");
  await expect.poll(() => row()?.state).not.toBe(PluginState.NOT_CONNECTED);
  await expect.poll(async () => (await act("variable")).output, { timeout: 10_000 }).toBe("none");
  if (launcher.level !== "none") {
    expect(await act("read", { path: join(data, "a.txt") })).toMatchObject({ status: "failed" });
  }
});

test("a connection that is lost in a call fails the call as lost, and the next call says that nobody is there", async () => {
  const stop = await startAgent(write(), await enrol());
  await isOffered();
  await install();
  let hear = () => {};
  const waits = new Promise<void>((done) => {
    hear = done;
  });
  const call = lab.call("plugin_far_act", { what: "wait" }, { progress: () => hear() });
  await waits;
  await stop();
  expect((await call).status).not.toBe("done");
  await expect.poll(() => row()?.state).toBe(PluginState.NOT_CONNECTED);
  await expect
    .poll(async () => (await act("log")).output, { timeout: 10_000 })
    .toContain('plugin "far" is not connected');
});

test("an upgrade that asks for more waits for its grant; other files than those that were granted do not start", async () => {
  const stop = await startAgent(write(), await enrol());
  await isOffered();
  await install();
  await stop();
  const permissions = [{ permission: "env=FAR_WORD", reason: "word" }];
  await startAgent(write({ version: "2.0.0", permissions }), "", "env=FAR_WORD");
  await expect.poll(() => row()?.heldVersion).toBe("2.0.0");
  expect((await act("log")).output).toContain("other files than this agent brings");
  await install();
  expect(await act("variable")).toEqual({ status: "done", output: "of the agent" });
});
