import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shareOf } from "../kit/thoroughness.ts";
import { type BesiegedDaemon, besiege } from "./besieged-daemon.ts";
import { endsOf, hookFile } from "./hook-file.ts";
import { FERTILE, GREEDY, type HostileHook } from "./hostile-hooks.ts";
import { type HostileServer, startHostileServer } from "./hostile-server.ts";

/*
 * Attacks with what a hook is granted: slow servers, endless files, crowded folders, commands that do not end.
 */

const CROWD = 100_000;
const TREE_FOLDERS = 50;
const FILES_PER_FOLDER = 40;
const HUGE_BYTES = 10 * 1024 ** 3;
const LARGE_BYTES = 3 * 1024 ** 2;

const hasBubblewrap = spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0;
if (!hasBubblewrap) console.warn("skipped: commands that do not end (no bubblewrap to hold them)");

let daemon: BesiegedDaemon;
let server: HostileServer;
let traps: string;

/** A folder of places that are bad for whoever touches them. */
function layTraps(): string {
  const folder = mkdtempSync(join(tmpdir(), "clawd-traps-"));
  const at = (name: string) => join(folder, name);
  writeFileSync(at("innocent.md"), "an innocent file\n");
  writeFileSync(at("large"), Buffer.alloc(LARGE_BYTES));
  writeFileSync(at("huge"), "");
  truncateSync(at("huge"), HUGE_BYTES);
  execFileSync("mkfifo", [at("pipe")]);
  symlinkSync(at("loop"), at("loop"));
  mkdirSync(at("crowd"));
  for (let index = 0; index < CROWD; index += 1) writeFileSync(at(`crowd/${index}`), "");
  for (let branch = 0; branch < TREE_FOLDERS; branch += 1) {
    mkdirSync(at(`tree/${branch}`), { recursive: true });
    for (let file = 0; file < FILES_PER_FOLDER; file += 1) writeFileSync(at(`tree/${branch}/${file}`), "x");
  }
  return folder;
}

beforeAll(async () => {
  traps = layTraps();
  server = await startHostileServer();
  // A question that nobody answers lapses after a second.
  daemon = await besiege("[hooks]\nkills_allowed = 100000\n[limits]\napproval_seconds = 1\n");
}, 60_000);
afterAll(async () => {
  await daemon.close();
  await server.close();
  rmSync(traps, { recursive: true });
}, 60_000);

function withstands(what: string, all: readonly HostileHook[]): void {
  const hostile = shareOf(what, all, { oneIn: 3 });
  test.each(hostile.map((hook) => [hook.what, hook] as const))(
    "a hook that %s harms nobody else",
    async (_what, hook) => {
      daemon.write("hooks/hostile.ts", hookFile(hook, traps, server.port));
      const { outputs, ended } = await daemon.withstand(() => daemon.turn("read attacked.md", hook.attended));
      expect(outputs.at(-1)).toMatch(endsOf(hook));
      expect(ended).toBe(true);
    },
  );
}

describe("the broker", () => withstands("hooks that take all of what they were granted", GREEDY));
describe.skipIf(!hasBubblewrap)("commands", () => withstands("hooks whose commands do not end", FERTILE));
