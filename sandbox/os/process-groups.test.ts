import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import type { Launcher, ProcessLimits } from "./launcher.ts";
import { probeLauncher } from "./probe.ts";
import { CGROUPS_DIR, DEFAULT_PROCESSES, isCountedByUser, openProcessGroups } from "./process-groups.ts";

const SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin";
const DEADLINE_MS = 5_000;
/** bwrap and the first process of its namespace. */
const OF_THE_WALL = 2;
const LIMIT = 64;
/** The user and the group that own nothing. */
const NOBODY = 65_534;
/** Becomes `sleep`, which lives on when the bomb has smothered itself. */
const BOMB = "f() { f | f & }; f & exec sleep 1000";

const nodeBinary = process.execPath;
const work = mkdtempSync(join(tmpdir(), "clawd-groups-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const groups = isCountedByUser() ? undefined : openProcessGroups(CGROUPS_DIR, "test-");
const none = groups === undefined;
if (none) {
  const why = isCountedByUser() ? "the kernel counts for this user" : "there is no cgroup to be had";
  console.warn(`skipping the tests of control groups: ${why}`);
}
const base = dirname(groups?.pathPrefixes[0] ?? "/none/none");
const boxed = await probeLauncher({ searchPath: SEARCH_PATH, wanted: "auto", nodeBinary });
const bare = await probeLauncher({ searchPath: SEARCH_PATH, wanted: "none", nodeBinary });
const noBubblewrap = boxed.level !== "bubblewrap";
if (noBubblewrap) console.warn(`skipping the control groups of the bubblewrap level: ${boxed.detail}`);

function launch(launcher: Launcher, script: string, limits: ProcessLimits = {}) {
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

/** The group that a process is in, as soon as it is in one of ours. */
async function groupOf(pid: number): Promise<string> {
  let found = "";
  await until(() => {
    found = /:pids:.*?(clawd-[^/]+)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1] ?? "";
    found ||= /^0::.*?(clawd-[^/]+)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1] ?? "";
    return found !== "";
  });
  return join(base, found);
}

/** Asks again and again, because what a kernel counts is no event. */
async function until(isSo: () => boolean): Promise<boolean> {
  const end = performance.now() + DEADLINE_MS;
  while (!isSo()) {
    if (performance.now() > end) return false;
    await delay(5);
  }
  return true;
}

const numberIn = (group: string, file: string) => Number(readFileSync(join(group, file), "utf8"));
const refusedIn = (group: string) => Number(/max (\d+)/.exec(readFileSync(join(group, "pids.events"), "utf8"))?.[1]);
/** What newer kernels remember. */
const peakOf = (group: string) => (existsSync(join(group, "pids.peak")) ? numberIn(group, "pids.peak") : 0);
const isRunning = (pid: string) => {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

const levels = [
  { name: "bubblewrap", launcher: boxed, skip: none || noBubblewrap, wall: OF_THE_WALL },
  { name: "none", launcher: bare, skip: none, wall: 0 },
];

describe.each(levels)("on level $name", ({ name, launcher, skip, wall }) => {
  test.skipIf(skip)("a fork bomb stays within its limit, and is gone with its group after a kill", async () => {
    const child = launch(launcher, BOMB, { processes: LIMIT });
    const group = await groupOf(child.pid);
    let most = 0;
    const isRefused = () => {
      most = Math.max(most, numberIn(group, "pids.current"));
      return refusedIn(group) > 0;
    };
    expect(await until(isRefused)).toBe(true);
    expect(Math.max(most, peakOf(group))).toBeLessThanOrEqual(LIMIT + wall);
    const pids = readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean);
    child.kill();
    await child.exited;
    expect(await until(() => !existsSync(group))).toBe(true);
    // A process leaves its group a moment before it is gone.
    await until(() => !pids.some(isRunning));
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test.skipIf(skip)("a child without limits is counted all the same, and its group goes with it", async () => {
    const child = launch(launcher, "sleep 5");
    const group = await groupOf(child.pid);
    expect(numberIn(group, "pids.max")).toBe(DEFAULT_PROCESSES + wall);
    child.kill();
    await child.exited;
    expect(await until(() => !existsSync(group))).toBe(true);
  });

  test.skipIf(skip)("a child that ends by itself leaves no group and nobody in it", async () => {
    const child = launch(
      launcher,
      "(setsid env -i /bin/sleep 1000 </dev/null >/dev/null 2>&1 &) ; read -r line; echo up",
    );
    const group = await groupOf(child.pid);
    child.stdin.end();
    expect(await text(child.stdout)).toBe("up\n");
    await child.exited;
    expect(await until(() => !existsSync(group))).toBe(true);
  });

  test.skipIf(skip)("the daemon's death by SIGKILL takes a fork bomb and its group along", async () => {
    const daemon = startDaemon(name === "none" ? "none" : "auto", `setsid env -i /bin/sleep 1000 & ${BOMB}`);
    const pid = await firstLine(daemon);
    const group = await groupOf(Number(pid));
    expect(await until(() => refusedIn(group) > 0)).toBe(true);
    const pids = readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean);
    const died = once(daemon, "exit");
    daemon.kill("SIGKILL");
    await died;
    expect(await until(() => !existsSync(group))).toBe(true);
    // A process leaves its group a moment before it is gone.
    await until(() => !pids.some(isRunning));
    expect(pids.filter(isRunning)).toEqual([]);
  });
});

/** A daemon in small: launches one child and says its process id. */
const DAEMON = `
const [probePath, wanted, cwd, script] = process.argv.slice(1);
const { probeLauncher } = await import(probePath);
const launcher = await probeLauncher({ searchPath: "${SEARCH_PATH}", wanted, nodeBinary: process.execPath });
const child = launcher.launch({
  command: ["/bin/sh", "-c", script], cwd, env: { PATH: "${SEARCH_PATH}" }, limits: { processes: ${LIMIT} }, pipes: 0,
  confinement: { read: [], write: [cwd], network: "none", system: "programs" },
});
child.stdout.resume();
child.stderr.resume();
console.log(child.pid);
setInterval(() => {}, 1000);
`;

function startDaemon(wanted: string, script: string): ChildProcess {
  const probePath = new URL("./probe.ts", import.meta.url).href;
  const args = ["--input-type=module", "-e", DAEMON, probePath, wanted, work, script];
  return spawn(nodeBinary, args, { stdio: ["ignore", "pipe", "inherit"], env: {} });
}

async function firstLine(daemon: ChildProcess): Promise<string> {
  const [chunk] = daemon.stdout ? await once(daemon.stdout, "data") : [];
  return String(chunk).trim();
}

describe.skipIf(none)("at a start", () => {
  const [namespace, pid, start] = basename(groups?.pathPrefixes[0] ?? "")
    .split("-")
    .slice(1);
  const lay = (name: string) => {
    const path = join(base, name);
    mkdirSync(path);
    return path;
  };

  test("what a dead daemon left is killed and removed, and a living one's is left alone", async () => {
    const dead = lay(`clawd-${namespace}-${pid}-1-left.1`);
    const living = lay(`clawd-${namespace}-${pid}-${start}-other.1`);
    const stranger = lay(`clawd-1-${pid}-1-elsewhere.1`);
    const within = lay(`${basename(dead)}/made-inside`);
    const left = spawn("sleep", ["1000"], { stdio: "ignore" });
    writeFileSync(join(within, "cgroup.procs"), String(left.pid));
    const died = once(left, "exit");
    openProcessGroups(CGROUPS_DIR, "sweeper-");
    expect(await died).toEqual([null, "SIGKILL"]);
    expect(await until(() => !existsSync(dead))).toBe(true);
    expect([living, stranger].map(existsSync)).toEqual([true, true]);
    for (const path of [living, stranger]) rmdirSync(path);
  });

  test("a trial leaves nothing behind", () => {
    openProcessGroups(CGROUPS_DIR, "trial-");
    expect(readdirSync(base).filter((name) => name.includes("trial-"))).toEqual([]);
  });
});

test("where nobody counts processes there are no groups", () => {
  expect(openProcessGroups(work, "nowhere-")).toBeUndefined();
  mkdirSync(join(work, "pids"));
  expect(openProcessGroups(work, "nowhere-")).toBeUndefined();
});

/** As an ordinary user: starts eighty processes where 64 may be, and says how many could not be started. */
const CROWD = `
const [probePath] = process.argv.slice(1);
const { probeLauncher } = await import(probePath);
const launcher = await probeLauncher({ searchPath: "${SEARCH_PATH}", wanted: "auto", nodeBinary: process.execPath });
if (launcher.level === "none") { console.log("no sandbox: " + launcher.detail); process.exit(0); }
const crowd = () => {
  const { spawn } = require("node:child_process");
  const failed = new Set();
  const children = [];
  const more = () => {
    if (children.length >= 80 || failed.size > 0) { console.log([...failed].join() || "none"); process.exit(0); }
    const child = spawn(process.execPath, ["--jitless", "-e", "setInterval(() => {}, 1000)"]);
    child.once("error", ({ code }) => { failed.add(code); more(); });
    child.once("spawn", () => { children.push(child); more(); });
  };
  more();
};
const child = launcher.launch({
  command: [process.execPath, "-e", "(" + crowd + ")()"], cwd: "/tmp", env: {}, limits: { processes: ${LIMIT} }, pipes: 0,
  confinement: { read: [], write: [], network: "none", system: "libraries" },
});
child.stdout.pipe(process.stdout);
child.stderr.resume();
await child.exited;
process.exit(0);
`;

test("the child of an ordinary user's daemon is counted, also where it sees libraries only", async (context) => {
  const probePath = new URL("./probe.ts", import.meta.url).href;
  const asUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const args = ["--input-type=module", "-e", CROWD, probePath];
  const user = spawn(nodeBinary, args, { stdio: ["ignore", "pipe", "ignore"], cwd: "/tmp", env: {}, ...asUser });
  const said = (await text(user.stdout)).trim();
  if (said === "" || said.startsWith("no sandbox")) {
    console.warn(`skipped: an ordinary user's daemon cannot be tried here (${said || "it does not start"})`);
    context.skip();
  }
  expect(said).toBe("EAGAIN");
}, 30_000);

const unshares = spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", CGROUPS_DIR]).status === 0;
if (!unshares) console.warn("skipped: a root daemon without cgroups (mounts cannot be unshared here)");

test.skipIf(none || !unshares)("a launcher of root that has no cgroup says that it does not count", async () => {
  const probePath = new URL("./probe.ts", import.meta.url).href;
  const script = `const { probeLauncher } = await import("${probePath}");
for (const wanted of ["auto", "none"]) console.log((await probeLauncher({ searchPath: "${SEARCH_PATH}", wanted, nodeBinary: process.execPath })).detail);`;
  const hide = `mount -t tmpfs none ${CGROUPS_DIR} && exec "$@"`;
  const { stdout } = spawnSync(
    "unshare",
    ["-m", "sh", "-c", hide, "sh", nodeBinary, "--input-type=module", "-e", script],
    { encoding: "utf8", env: { PATH: SEARCH_PATH } },
  );
  const lines = stdout.trim().split("\n");
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).toContain("Processes are not counted: the daemon is root and has no cgroup");
  expect(boxed.detail + bare.detail).not.toContain("not counted");
});
