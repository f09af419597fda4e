import { readdirSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fail } from "../../core/domain/failure.ts";
import { PluginState } from "../../proto/gen/clawd/v1/admin_pb.ts";
import {
  bundleFixture,
  closeLab,
  type Lab,
  manifestOf,
  NOTHING_LEFT,
  openLab,
  shortPauses,
  survivorsOf,
} from "../fixtures/plugin-lab.ts";
import { settingsFor } from "../manifest/settings.ts";

let program: string;
let lab: Lab;
/** What a person wrote under [plugins.living]. */
let given: JsonObject;
beforeAll(async () => {
  program = await bundleFixture("living.ts");
});
beforeEach(async () => {
  given = {};
  lab = await openLab({
    random: shortPauses,
    settings: async (plugin) => settingsFor(plugin, given, "config.toml"),
  });
});
afterEach(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

type Form = { version?: string; habit?: string; change?: JsonObject; launch?: JsonObject };

function author({ version = "1.0.0", habit = "", change = {}, launch = {} }: Form = {}): string {
  const command = ["node", "main.mjs", lab.dir, version, habit];
  const configSchema = { type: "object", properties: { city: { type: "string" } }, additionalProperties: false };
  const manifest = manifestOf("living", { version, launch: { command, ...launch }, configSchema, ...change });
  return lab.author(manifest, { "main.mjs": program });
}
const install = async (form: Form = {}) => {
  expect(await lab.host.admin.install(author(form), true)).toMatchObject({ ok: true });
};
type Told = { readonly version: string; readonly life: string; readonly config: JsonObject };
const act = async (args: JsonObject = {}): Promise<Told> => {
  const outcome = await lab.call("plugin_living_act", args);
  if (outcome.status !== "done") throw new Error(JSON.stringify(outcome));
  return JSON.parse(outcome.output) as Told;
};
/** A call that is under way when this resolves. */
const begin = async (args: JsonObject) => {
  const inside = Promise.withResolvers<void>();
  const outcome = lab.call("plugin_living_act", args, { progress: () => inside.resolve() });
  await inside.promise;
  return { outcome };
};
const row = () => lab.host.admin.list()[0];

async function deaths(): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for await (const { body } of lab.journal.read("plugins", { after: 0, follow: false }, new AbortController().signal)) {
    if (body.case === "pluginDied") found.push({ ...body.value } as unknown as JsonObject);
  }
  return found;
}

describe("reload", () => {
  test("under load no call fails, and all go to the new process in the end", async () => {
    await install({ change: { limits: { concurrentCalls: 8 } } });
    const first = await act();
    let isOver = false;
    const told: Told[] = [];
    const caller = async () => {
      while (!isOver) told.push(await act({ wait: 5 }));
    };
    const callers = Array.from({ length: 8 }, caller);
    for (let reload = 0; reload < 3; reload++) {
      expect(await lab.host.admin.reload("living")).toEqual({ ok: true, value: undefined });
    }
    isOver = true;
    await Promise.all(callers);
    const lives = new Set(told.map(({ life }) => life));
    expect(lives.size).toBeGreaterThanOrEqual(2);
    expect((await act()).life).not.toBe(first.life);
    expect(await deaths()).toEqual([]);
    expect(row()).toMatchObject({ state: PluginState.READY, restarts: 0 });
  });

  test("a call under way ends on its process, and an upgrade's files stay until then", async () => {
    await install();
    const { life } = await act();
    const { outcome: running } = await begin({ wait: 1_500 });
    await install({ version: "2.0.0" });
    expect(await act()).toMatchObject({ version: "2.0.0" });
    expect(readdirSync(lab.options.pluginsDir).sort()).toEqual([".old-living", "living"]);
    expect(JSON.parse((await running).output)).toMatchObject({ version: "1.0.0", life });
    await expect.poll(() => readdirSync(lab.options.pluginsDir)).toEqual(["living"]);
  });

  test("an upgrade that does not start leaves the old one running, with its files and its grant", async () => {
    await install();
    const before = await act();
    expect(await lab.host.admin.install(author({ version: "2.0.0", habit: "dies" }), true)).toMatchObject({
      ok: false,
      failure: { message: 'plugin "living" ended with code 3 before it said hello' },
    });
    expect(await act()).toEqual(before);
    process.kill(row()?.pid ?? 0, "SIGKILL");
    await expect.poll(() => row()?.state).toBe(PluginState.BACKING_OFF);
    expect(await act()).toMatchObject({ version: "1.0.0" });
    expect(row()).toMatchObject({ version: "1.0.0" });
  });

  test("a singleton's process is gone before the next one starts", async () => {
    await install({ launch: { singleton: true } });
    const first = await act();
    const { outcome: running } = await begin({ wait: 500 });
    const reloaded = lab.host.admin.reload("living");
    await expect.poll(() => row()?.state).toBe(PluginState.STARTING);
    const next = act();
    expect(JSON.parse((await running).output)).toMatchObject({ life: first.life });
    expect((await next).life).not.toBe(first.life);
    expect(await reloaded).toMatchObject({ ok: true });
    const log = lab.host.admin.log("living");
    expect(log.ok && log.value.filter((line) => line.startsWith("host: started"))).toHaveLength(2);
  });
});

describe("settings", () => {
  test("a plugin that can take them gets new ones while it runs, and keeps the old ones where they are wrong", async () => {
    given = { city: "Ulm" };
    await install();
    const first = await act();
    expect(first.config).toEqual({ city: "Ulm" });
    given = { city: "Bonn" };
    expect(await lab.host.admin.reload("living")).toMatchObject({ ok: true });
    expect(await act()).toEqual({ ...first, config: { city: "Bonn" } });
    given = { city: "nowhere" };
    expect(await lab.host.admin.reload("living")).toMatchObject({
      ok: false,
      failure: { code: "invalid", message: expect.stringContaining("there is no such city") },
    });
    given = { city: 7 };
    expect(await lab.host.admin.reload("living")).toMatchObject({ ok: false, failure: { code: "invalid" } });
    expect(await act()).toEqual({ ...first, config: { city: "Bonn" } });
  });

  test("one that cannot is started anew with them", async () => {
    await install({ habit: "restarts" });
    const first = await act();
    given = { city: "Bonn" };
    expect(await lab.host.admin.reload("living")).toMatchObject({ ok: true });
    const next = await act();
    expect(next.config).toEqual({ city: "Bonn" });
    expect(next.life).not.toBe(first.life);
  });

  test("wrong ones are a refusal with the file and the key", async () => {
    given = { town: "Ulm" };
    await install();
    expect(await lab.call("plugin_living_act")).toMatchObject({
      status: "failed",
      failure: { code: "invalid", message: expect.stringContaining("config.toml") },
    });
    expect(row()).toMatchObject({ state: PluginState.REFUSED });
    given = {};
    expect(await lab.host.admin.reload("living")).toMatchObject({ ok: true });
  });
});

describe("death", () => {
  test("killed again and again it comes back, and every death is on record with the calls it took along", async () => {
    await lab.close();
    lab = await openLab({ random: shortPauses, breaker: { crashesAllowed: 100, windowMs: 60_000 } });
    await install();
    for (let storm = 1; storm <= 8; storm++) {
      const { outcome: running } = await begin({ wait: 60_000 });
      process.kill(row()?.pid ?? 0, "SIGKILL");
      expect(await running).toMatchObject({ failure: { message: expect.stringContaining("was killed by SIGKILL") } });
      expect(row()).toMatchObject({ restarts: storm - 1 });
    }
    await act();
    const died = { plugin: "living", version: "1.0.0", because: "was killed by SIGKILL", callIds: ["c1"] };
    await expect.poll(deaths).toMatchObject(Array(8).fill(died));
  });

  test("one that writes more than its share is killed, with the reason on record", async () => {
    await install({ change: { limits: { diskMib: 8 }, permissions: [{ permission: "write=./data" }] } });
    await act({ mebibytes: 9 });
    const because = "was killed: its folders hold more than the 8 MiB that it may write";
    await expect.poll(deaths, { timeout: 15_000, interval: 250 }).toMatchObject([{ because, callIds: [] }]);
    expect(await survivorsOf(lab.dir)).toEqual([]);
  }, 20_000);
});

test("unused for its idle time it leaves, and the next call starts it", async () => {
  await install({ launch: { idleStopMs: 200 } });
  const first = await act();
  await expect.poll(() => row()?.state).toBe(PluginState.IDLE);
  expect(await survivorsOf(lab.dir)).toEqual([]);
  expect((await act()).life).not.toBe(first.life);
  expect({ deaths: await deaths(), restarts: row()?.restarts }).toEqual({ deaths: [], restarts: 0 });
});

test("a plugin that needs another starts only when that is there and on", async () => {
  await install({ change: { dependencies: ["base"] } });
  const needs = {
    status: "failed",
    failure: { code: "unavailable", message: 'plugin "living" needs plugin "base", which is not installed' },
  };
  expect(await lab.call("plugin_living_act")).toMatchObject(needs);
  const base = lab.author(manifestOf("base", { launch: { command: ["node", "main.mjs", lab.dir] } }), {
    "main.mjs": "",
  });
  expect(await lab.host.admin.install(base, true)).toMatchObject({ ok: true });
  await act();
});

test("settings that cannot be read keep the plugin from starting, with the reason", async () => {
  await lab.close();
  lab = await openLab({ settings: async () => fail("unavailable", "config.toml cannot be read") });
  await install();
  expect(await lab.call("plugin_living_act")).toMatchObject({ failure: { message: "config.toml cannot be read" } });
});
