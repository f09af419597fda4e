import { expect, test } from "vitest";
import { createBareLauncher } from "./bare-launcher.ts";
import { tryToEscape } from "./escape-trial.ts";
import { proxyOpener } from "./filtered-network.ts";
import { createLeaseWatcher, NO_MARK } from "./lease-watcher.ts";
import { probeLauncher } from "./probe.ts";

const options = { searchPath: process.env.PATH ?? "", nodeBinary: process.execPath };
const walled = await probeLauncher({ ...options, wanted: "auto" });
const isWalled = walled.level !== "none";
if (!isWalled) console.info(`skipped: no sandbox here: ${walled.detail}`);

test.skipIf(!isWalled)("behind the wall nothing that is tried gets out, and all of it is tried", async () => {
  const trials = await tryToEscape(walled, process.execPath, process.pid);
  for (const { attempts } of trials) expect(attempts.filter(({ escaped }) => escaped)).toEqual([]);
  expect(trials.map(({ prisoner, attempts }) => [prisoner, attempts.length])).toEqual([
    ["a plugin", 10],
    ["a hook host", 12],
  ]);
});

test("without a wall the same attempts get out, which proves that they can", async () => {
  // Made by hand, without cgroups: under root one would take along what the child left behind.
  const watcher = createLeaseWatcher(options.searchPath, NO_MARK, []);
  const proxies = proxyOpener(undefined, process.execPath);
  const bare = createBareLauncher("for the test", watcher, undefined, proxies, () => NO_MARK);
  const [plugin] = await tryToEscape(bare, process.execPath, process.pid);
  const out = plugin?.attempts.filter(({ escaped }) => escaped).map(({ what }) => what);
  expect(out).toEqual(
    expect.arrayContaining([
      "leave a process behind",
      "read a file outside",
      "list a folder outside",
      "write a file outside",
      "signal the daemon",
      "turn the filter of system calls off",
      "reach a port of this machine",
      "reach a socket of this machine",
    ]),
  );
});
