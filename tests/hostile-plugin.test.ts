import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Attack } from "./hostile-plugin/attack.ts";
import { FILE_ATTACKS } from "./hostile-plugin/attacks/files.ts";
import { HOST_ATTACKS } from "./hostile-plugin/attacks/hosts.ts";
import { NETWORK_ATTACKS } from "./hostile-plugin/attacks/networks.ts";
import { PROCESS_ATTACKS } from "./hostile-plugin/attacks/processes.ts";
import { type HostileHouse, openHostileHouse, prepareVictim, pythonMissing } from "./hostile-plugin/hostile-house.ts";
import { launcher } from "../plugin-host/fixtures/plugin-lab.ts";

/*
 * Plugins that mean harm, through a real daemon, with an ordinary grant. Each attack must fail, and each has a control: the
 * same code gets through outside, or what was granted gets through inside. Text in a description that talks to the model
 * is no attack of this suite: no wall of ours is made of what a model believes.
 */

const missing = launcher.level === "none" ? `no sandbox here: ${launcher.detail}` : pythonMissing;
if (missing !== "") console.log(`skipped: ${missing}`);

let house: HostileHouse;
let release: () => Promise<void>;
let proven = 0;

describe.skipIf(missing !== "")("a hostile plugin", () => {
  beforeAll(async () => {
    house = await openHostileHouse();
    release = await prepareVictim(house);
  }, 60_000);
  afterAll(() => house?.close());

  async function tryOut({ name, code, under = "python", told = /./, control }: Attack): Promise<void> {
    const plugin = under === "node" ? "prowler" : "attacker";
    const hitsBefore = house.hits();
    const got = await house.act(plugin, code);
    expect(got, name).toMatch(/^refused: /);
    expect(got, name).toMatch(told);
    expect(house.hits(), "what servers heard of it").toBe(hitsBefore);
    if (control.is === "granted") expect(await house.act(plugin, control.code), "by its grant").toMatch(/^ESCAPED: /);
    else {
      const outside = house.outside(code);
      if (control.is === "privileged" && !outside.startsWith("ESCAPED")) {
        console.log(`no control for a plugin that ${name}: this machine says ${outside}`);
        return;
      }
      expect(outside, "outside of the sandbox").toMatch(/^ESCAPED: /);
    }
    proven++;
  }

  const suites = { files: FILE_ATTACKS, "processes and the kernel": PROCESS_ATTACKS, networks: NETWORK_ATTACKS, "its host": HOST_ATTACKS };
  for (const [area, attacks] of Object.entries(suites)) {
    describe(area, () => {
      test.each(attacks.map((attack) => [attack.name, attack] as const))("that %s gets nowhere", (_name, attack) => tryOut(attack));
      afterEach(() => house.stillServes());
    });
  }

  test("all of these were attacks", async () => {
    await release();
    expect(proven).toBeGreaterThanOrEqual(60);
    const names = Object.values(suites).flatMap((attacks) => attacks.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
  });
});
