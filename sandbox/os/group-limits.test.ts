import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import type { Launcher, ProcessLimits } from "./launcher.ts";
import { probeLauncher } from "./probe.ts";
import { CGROUPS_DIR, isCountedByUser, openProcessGroups } from "./process-groups.ts";

const SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin";
const DEADLINE_MS = 5_000;
const SHARE_PERCENT = 20;
const MEMORY_MIB = 64;
/** Of one child: alone it would fit, with all that a sandbox has on top for files in memory; two do not. */
const CHILD_MIB = 400;

const work = mkdtempSync(join(tmpdir(), "clawd-shares-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const groups = isCountedByUser() ? undefined : openProcessGroups(CGROUPS_DIR, "shares-");
const isMissing = (limit: "cpuPercent" | "memoryMib") => groups === undefined || groups.missing.includes(limit);
if (isMissing("cpuPercent")) console.warn("skipping the shares of the processor: there is no cgroup for them here");
if (isMissing("memoryMib")) console.warn("skipping the memory of whole trees: there is no cgroup for it here");
const nodeBinary = process.execPath;
const boxed = await probeLauncher({ searchPath: SEARCH_PATH, wanted: "auto", nodeBinary });
const bare = await probeLauncher({ searchPath: SEARCH_PATH, wanted: "none", nodeBinary });
const noBubblewrap = boxed.level !== "bubblewrap";
if (noBubblewrap) console.warn(`skipping the control groups of the bubblewrap level: ${boxed.detail}`);

/** Spins for a second by the clock, in two processes, and says how many clock ticks they had of the processor. */
const SPIN = `
spin() { end=$(($(date +%s%N) + 1000000000)); while [ "$(date +%s%N)" -lt $end ]; do :; done; }
spin & spin; wait; times`;
/** Two children that together want more than they may have. */
const GREED = `
take() { head -c ${CHILD_MIB}M /dev/zero | tail -c ${CHILD_MIB}M | wc -c; }
take & take; wait; echo lives`;

function launch(launcher: Launcher, script: string, limits: ProcessLimits) {
  const child = launcher.launch({
    command: ["/bin/sh", "-c", script],
    cwd: work,
    env: { PATH: SEARCH_PATH },
    confinement: { read: [], write: [work], network: "none", system: "programs" },
    limits,
    pipes: 0,
  });
  child.stderr.resume();
  return child;
}

async function run(launcher: Launcher, script: string, limits: ProcessLimits): Promise<string> {
  const child = launch(launcher, script, limits);
  const [said] = await Promise.all([text(child.stdout), child.exited]);
  return said;
}

/** `times` of a shell: two lines of minutes and seconds, of itself and of its children. */
function processorSeconds(said: string): number {
  const parts = [...said.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

/** Asks again and again, because the removal of a group is no event. */
async function until(isSo: () => boolean): Promise<boolean> {
  const end = performance.now() + DEADLINE_MS;
  while (!isSo()) {
    if (performance.now() > end) return false;
    await delay(5);
  }
  return true;
}

const prefixes = groups?.pathPrefixes ?? [];
const ownGroups = () =>
  prefixes.flatMap((prefix) => {
    const own = basename(prefix).split("-").slice(0, 4).join("-");
    return readdirSync(dirname(prefix)).filter((name) => name.startsWith(own));
  });

describe.each([
  { name: "bubblewrap", launcher: boxed, skip: noBubblewrap },
  { name: "none", launcher: bare, skip: false },
])("on level $name", ({ launcher, skip }) => {
  test.skipIf(skip || isMissing("cpuPercent"))(
    "a tree that spins gets its share of the processor and no more",
    async () => {
      const free = processorSeconds(await run(launcher, SPIN, {}));
      const held = processorSeconds(await run(launcher, SPIN, { cpuPercent: SHARE_PERCENT }));
      expect(held).toBeGreaterThan(0);
      expect(held).toBeLessThan(free / 2);
      expect(await until(() => ownGroups().length === 0)).toBe(true);
    },
    20_000,
  );

  test.skipIf(skip || isMissing("cpuPercent"))(
    "a tree that stands back leaves the processors to one that does not, in whatever session it spins",
    async () => {
      const crowd = (limits: ProcessLimits) =>
        Promise.all(
          Array.from({ length: availableParallelism() }, async () =>
            processorSeconds(await run(launcher, SPIN, limits)),
          ),
        );
      const [first, behind] = await Promise.all([crowd({}), crowd({ nice: 10 })]);
      const sum = (seconds: readonly number[]) => seconds.reduce((total, each) => total + each, 0);
      expect(sum(behind)).toBeGreaterThan(0);
      expect(sum(behind)).toBeLessThan(sum(first) / 2);
    },
    20_000,
  );

  test.skipIf(skip || isMissing("memoryMib"))(
    "children that take memory are held together, and the tree's head lives",
    async () => {
      const all = String(CHILD_MIB * 1024 * 1024);
      const free = (await run(launcher, GREED, {})).split("\n");
      expect(free.filter((line) => line === all)).toHaveLength(2);
      const held = (await run(launcher, GREED, { memoryMib: MEMORY_MIB })).split("\n");
      expect(held.filter((line) => line === all).length).toBeLessThan(2);
      expect(held).toContain("lives");
      expect(await until(() => ownGroups().length === 0)).toBe(true);
    },
    20_000,
  );
});

test.skipIf(groups === undefined)(
  "a group of all limits is in every controller's folder, and goes from all of them",
  async () => {
    const group = groups?.open({ processes: 8, cpuPercent: 50, memoryMib: 64 });
    const folders = (group?.joinFiles ?? []).map(dirname);
    expect(folders).toHaveLength(prefixes.length);
    expect(folders.map(existsSync)).not.toContain(false);
    group?.end();
    expect(await until(() => !folders.some(existsSync))).toBe(true);
  },
);

test("what is not held is said", () => {
  for (const { detail } of [boxed, bare]) {
    expect(detail.includes("shares of the processor")).toBe(isMissing("cpuPercent"));
    expect(/memory of (?:a )?whole/.test(detail)).toBe(isMissing("memoryMib"));
  }
});
