import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseManifest } from "../../plugin-host/manifest/manifest.ts";
import type { Failure } from "../domain/failure.ts";
import { pluginSettings } from "./plugin-settings.ts";

let home = "";
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-settings-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const put = (text: string) => writeFile(join(home, "config.toml"), text);

test("settings are read afresh each time, and a broken file leaves the last good ones in force", async () => {
  const parsed = parseManifest(
    JSON.stringify({
      ...{ manifestVersion: 1, name: "weather", version: "1.0.0", protocolMajors: [1] },
      launch: { command: ["node"] },
      configSchema: { type: "object", properties: { city: { type: "string" } } },
      config: { city: "Ulm" },
    }),
    "f",
  );
  if (!parsed.ok) throw new Error(parsed.failure.message);
  let problems: readonly Failure[] = [];
  const read = pluginSettings(home, (found) => {
    problems = found;
  });
  const weather = parsed.value;
  expect(await read(weather)).toEqual({ ok: true, value: { city: "Ulm" } });
  await put('[plugins.weather]\ncity = "Bonn"\n');
  expect(await read(weather)).toEqual({ ok: true, value: { city: "Bonn" } });
  await put("[plugins.weather\n");
  expect(await read(weather)).toEqual({ ok: true, value: { city: "Bonn" } });
  expect(problems).toMatchObject([{ message: expect.stringContaining("the last good one is in force") }]);
  await put("[plugins.weather]\ncity = 7\n");
  expect(await read(weather)).toMatchObject({
    failure: { message: expect.stringContaining(`${join(home, "config.toml")}: plugins.weather.city does not fit`) },
  });
  expect(problems).toEqual([]);
});
