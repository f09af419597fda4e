import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { ordinaryUser } from "../../tests/kit/ordinary-user.ts";
import { probeLauncher } from "./probe.ts";

const SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin";
const SURVIVOR_DEADLINE_MS = 5_000;
const probed = await probeLauncher({ searchPath: SEARCH_PATH, wanted: "auto", nodeBinary: process.execPath });
const noBubblewrap = probed.level !== "bubblewrap";
if (noBubblewrap) console.warn(`skipping the leases of the bubblewrap level: ${probed.detail}`);
const work = mkdtempSync(join(tmpdir(), "clawd-lease-"));
chmodSync(work, 0o777);
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** A process that leaves its parent, its group and its session, and ignores what it can. */
const STUBBORN = `trap "" TERM HUP INT; exec sleep`;

/**
 * A daemon in small: launches as many children as it is told, each with a background grandchild, prints a line when a
 * child says so, and waits for its death.
 */
const DAEMON = `
const [probePath, wanted, marker, cwd, count, script] = process.argv.slice(1);
const { probeLauncher } = await import(probePath);
const launcher = await probeLauncher({ searchPath: ${JSON.stringify(SEARCH_PATH)}, wanted, nodeBinary: process.execPath });
console.log("launching " + launcher.level);
for (let n = 0; n < Number(count); n += 1) {
  const child = launcher.launch({
    command: ["/bin/sh", "-c", script, "sh", marker], cwd, env: { PATH: ${JSON.stringify(SEARCH_PATH)} }, limits: {}, pipes: 0,
    confinement: { read: [], write: [cwd], network: "none", system: "programs" },
  });
  child.stdout.on("data", (chunk) => process.stdout.write(chunk));
  child.stderr.resume();
  void child.exited.then(() => console.log("exited"));
}
process.on("SIGUSR2", () => console.log("awake"));
setInterval(() => {}, 1000);
`;

/** $1 is the marker, a number of seconds that no other process sleeps. */
const CHILD_WITH_GRANDCHILD = `
(setsid sh -c '${STUBBORN} "$1"' sh "$1" </dev/null >/dev/null 2>&1 &)
trap "" TERM
sh -c '${STUBBORN} "$1"' sh "$1" &
while ! grep -qs "^sleep" /proc/$!/comm; do :; done
echo up
exec sleep "$1"`;

/** Leaves a grandchild behind and ends. */
const CHILD_THAT_ENDS = `(setsid sh -c '${STUBBORN} "$1"' sh "$1" </dev/null >/dev/null 2>&1 &)
sh -c '${STUBBORN} "$1"' sh "$1" </dev/null >/dev/null 2>&1 &
while ! grep -qs "^sleep" /proc/$!/comm; do :; done
echo up`;

let markers = 0;
function nextMarker(): string {
  markers += 1;
  return `86${process.pid}.${markers}`;
}

function startDaemon(wanted: string, marker: string, count: number, script: string, uid?: number): ChildProcess {
  const probePath = new URL("./probe.ts", import.meta.url).href;
  const args = ["--input-type=module", "-e", DAEMON, probePath, wanted, marker, work, String(count), script];
  const user = uid === undefined ? {} : { uid, gid: uid };
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env: {}, ...user });
}

/** Resolves when the daemon has said the word so many times in all. */
function linesUntil(daemon: ChildProcess, word: string, times: number): Promise<string> {
  let heard = "";
  return new Promise((resolve, reject) => {
    daemon.stdout?.on("data", (chunk: Buffer) => {
      heard += String(chunk);
      if (heard.split(word).length > times) resolve(heard);
    });
    daemon.once("exit", () => reject(new Error(`the daemon ended before it said "${word}" ${times} times: ${heard}`)));
  });
}

/** Processes that carry the marker among their arguments. A child between fork and exec still carries the daemon's. */
function findMarked(marker: string, except?: number): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return `${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`;
      } catch {
        return "";
      }
    })
    .filter((line) => line.includes(marker) && !line.startsWith(`${except} `));
}

async function killDaemon(daemon: ChildProcess): Promise<void> {
  const died = once(daemon, "exit");
  daemon.kill("SIGKILL");
  await died;
}

/** Whoever is left when the deadline is over. Death is not an event that a stranger could await, so this asks again. */
async function survivorsOf(marker: string, except?: number): Promise<string[]> {
  const end = performance.now() + SURVIVOR_DEADLINE_MS;
  let found = findMarked(marker, except);
  while (found.length > 0 && performance.now() < end) {
    await delay(20);
    found = findMarked(marker, except);
  }
  return found;
}

const levels = [
  { name: "bubblewrap", wanted: "auto", skip: noBubblewrap },
  { name: "none", wanted: "none", skip: false },
];
const users = [
  { user: "this user", uid: undefined },
  ...(ordinaryUser?.uid === undefined ? [] : [{ user: "an ordinary user", uid: ordinaryUser.uid }]),
];

describe.each(levels.flatMap((level) => users.map((user) => ({ ...level, ...user }))))(
  "on level $name, as $user",
  ({ name, wanted, skip, uid }) => {
    test.skipIf(skip)(
      "the daemon's death by SIGKILL takes every tree with it, sessions left and signals ignored",
      async () => {
        const marker = nextMarker();
        const daemon = startDaemon(wanted, marker, 3, CHILD_WITH_GRANDCHILD, uid);
        expect(await linesUntil(daemon, "up", 3)).toContain(`launching ${name}`);
        expect(findMarked(marker).length).toBeGreaterThanOrEqual(9);
        await killDaemon(daemon);
        expect(await survivorsOf(marker)).toEqual([]);
      },
    );

    test.skipIf(skip)("what a child leaves behind dies when the child ends", async () => {
      const marker = nextMarker();
      const daemon = startDaemon(wanted, marker, 2, CHILD_THAT_ENDS, uid);
      await linesUntil(daemon, "exited", 2);
      expect(await survivorsOf(marker, daemon.pid)).toEqual([]);
      await killDaemon(daemon);
    });
  },
);

describe.each(levels)("on level $name", ({ wanted, skip }) => {
  test.skipIf(skip)("a daemon killed at any moment of a start leaves nobody", { timeout: 60_000 }, async () => {
    for (let delayMs = 0; delayMs < 24; delayMs += 2) {
      const marker = nextMarker();
      const daemon = startDaemon(wanted, marker, 2, CHILD_WITH_GRANDCHILD);
      await linesUntil(daemon, "launching", 1);
      await delay(delayMs); // not awaiting an event: the point is to hit another moment each time
      await killDaemon(daemon);
      expect(await survivorsOf(marker), `killed ${delayMs} ms after the first launch`).toEqual([]);
    }
  });

  test.skipIf(skip)("a watcher that is killed is replaced, and its leases are kept", async () => {
    const marker = nextMarker();
    const daemon = startDaemon(wanted, marker, 1, CHILD_WITH_GRANDCHILD);
    await linesUntil(daemon, "up", 1);
    const first = watcherOf(daemon);
    process.kill(first, "SIGKILL");
    const end = performance.now() + SURVIVOR_DEADLINE_MS;
    while ([0, first].includes(watcherOf(daemon)) && performance.now() < end) await delay(20);
    const awake = linesUntil(daemon, "awake", 1); // it starts a watcher and tells it everything in one go
    daemon.kill("SIGUSR2");
    await awake;
    await killDaemon(daemon);
    expect(await survivorsOf(marker)).toEqual([]);
  });
});

function watcherOf(daemon: ChildProcess): number {
  const children = readFileSync(`/proc/${daemon.pid}/task/${daemon.pid}/children`, "utf8").split(" ").filter(Boolean);
  const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("clawd-lease"));
  return Number(found ?? 0);
}
