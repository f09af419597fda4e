import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BesiegedDaemon, besiege } from "./denial/besieged-daemon.ts";
import { endsOf, hookFile } from "./denial/hook-file.ts";
import { BUSY, type HostileHook, HUNGRY, LOUD } from "./denial/hostile-hooks.ts";
import { shareOf } from "./kit/thoroughness.ts";

/*
 * Attacks on availability: while each of them runs, and after it, the daemon answers, and another session is served.
 */

let daemon: BesiegedDaemon;

beforeAll(async () => {
  daemon = await besiege();
});
afterAll(() => daemon.close(), 60_000);

function withstands(what: string, all: readonly HostileHook[]): void {
  const hostile = shareOf(what, all, { oneIn: 3 });
  test.each(hostile.map((hook) => [hook.what, hook] as const))(
    "a hook that %s harms nobody else",
    async (_what, hook) => {
      daemon.write("hooks/hostile.ts", hookFile(hook, daemon.workspace, 0));
      const { outputs, ended } = await daemon.withstand(() => daemon.turn("read attacked.md", hook.attended));
      expect(outputs).toEqual([expect.stringMatching(endsOf(hook))]);
      expect(ended).toBe(true);
    },
  );
}

describe("the processor", () => withstands("hooks that keep a processor busy", BUSY));
describe("memory", () => withstands("hooks that fill memory", HUNGRY));
describe("the bridge", () => withstands("hooks that flood the bridge", LOUD));
