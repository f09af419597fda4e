import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BesiegedDaemon, besiege } from "./denial/besieged-daemon.ts";
import { endsOf, hookFile } from "./denial/hook-file.ts";
import { BUSY, type HostileHook, HUNGRY, LOUD } from "./denial/hostile-hooks.ts";

/*
 * Attacks on availability: while each of them runs, and after it, the daemon answers, and another session is served.
 */

let daemon: BesiegedDaemon;

beforeAll(async () => {
  daemon = await besiege();
});
afterAll(() => daemon.close(), 60_000);

function withstands(hostile: readonly HostileHook[]): void {
  test.each(hostile.map((hook) => [hook.what, hook] as const))(
    "a hook that %s harms nobody else",
    async (_what, hook) => {
      daemon.write("hooks/hostile.ts", hookFile(hook, daemon.workspace, 0));
      const { outputs, ended } = await daemon.withstand(() => daemon.turn("read attacked.md", hook.attended));
      console.log(
        hook.what,
        "→",
        outputs.map((o) => o.slice(0, 300)),
      );
      expect(outputs).toEqual([expect.stringMatching(endsOf(hook))]);
      expect(ended).toBe(true);
    },
  );
}

describe("the processor", () => withstands(BUSY));
describe("memory", () => withstands(HUNGRY));
describe("the bridge", () => withstands(LOUD));
