import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Lab, openLab } from "../fixtures/plugin-lab.ts";
import { settingsFor } from "./settings.ts";

const IDENTITY = `
name = "weather"
version = "1.2.0"
api_version = 1
description = "Tells the weather."
entry_point = "main.ts"
`;
const REST = `
[[tools]]
name = "now"
description = "The weather, now."
[[hooks]]
name = "session.closed"
`;
const LAYOUTS = {
  flat: `${IDENTITY}[config]\ncity = "Ulm"\ndays = 2\n${REST}`,
  nested: `[plugin]\n${IDENTITY}[plugin.config]\ncity = "Ulm"\ndays = 2\n${REST}`,
};
const PROGRAM = `import { servePlugin, tool } from "clawd/plugin";
const now = tool({ name: "now", run: (_, { config }) => JSON.stringify(config) });
await servePlugin({ name: "weather", version: "1.2.0", tools: [now], hooks: [{ at: "session.closed", run: () => {} }] });
`;

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ settings: async (plugin) => settingsFor(plugin, { city: "Bonn" }, "config.toml") });
});
afterAll(() => lab.close());

test("both layouts of plugin.toml install, list and run as the same plugin", async () => {
  const rows = [];
  for (const [layout, text] of Object.entries(LAYOUTS)) {
    const folder = join(lab.dir, layout);
    mkdirSync(folder);
    writeFileSync(join(folder, "plugin.toml"), text);
    writeFileSync(join(folder, "main.ts"), PROGRAM);
    expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true, value: { installed: true } });
    const [row] = lab.host.admin.list();
    rows.push(row);
    expect(await lab.call("plugin_weather_now")).toEqual({ status: "done", output: '{"city":"Bonn","days":2}' });
    await lab.host.admin.remove("weather");
  }
  expect(rows[0]).toMatchObject({ name: "weather", version: "1.2.0", tools: ["plugin_weather_now"] });
  expect(rows[0]).toEqual(rows[1]);
});

test("an installed copy has a plugin.json, also when nothing of it had to be bundled", async () => {
  const folder = join(lab.dir, "plain");
  mkdirSync(folder);
  writeFileSync(join(folder, "plugin.toml"), LAYOUTS.flat.replace("main.ts", "main.py"));
  writeFileSync(join(folder, "main.py"), "");
  expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true, value: { installed: true } });
  const installed = join(lab.options.pluginsDir, "weather");
  const found = ["plugin.json", "plugin.toml", "main.py"].map((name) => existsSync(join(installed, name)));
  expect(found).toEqual([true, false, true]);
  await lab.host.admin.remove("weather");
});

test("a plugin.toml that lies in the plugins' folder is found, and its API version judged", async () => {
  const folder = join(lab.options.pluginsDir, "weather");
  mkdirSync(folder);
  writeFileSync(join(folder, "plugin.toml"), LAYOUTS.flat.replace("api_version = 1", "api_version = 999"));
  const host = await lab.reopen();
  expect(host.admin.list()).toMatchObject([
    { name: "weather", failure: { message: "Plugin 'weather' API version 999 doesn't match runtime version 1" } },
  ]);
});
