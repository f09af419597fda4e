import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { platformRefusal } from "../../cli/platform.ts";
import { closeInheritedDescriptors } from "../../sandbox/os/inherited-descriptors.ts";
import { lockHome } from "../journal/home-lock.ts";
import { homeAt, makeHome } from "./home.ts";
import { buildHouse, type House } from "./wire.ts";

/** An orderly end that takes longer than this becomes a plain one, milliseconds. */
const SHUTDOWN_LIMIT_MS = 15_000;

const DISK_THREADS = "16";
/** How often the daemon looks whether its data folder was deleted: without it nobody can reach it any more. */
const HOME_CHECK_MS = 5_000;

function log(line: string): void {
  process.stderr.write(`${new Date().toISOString()} ${line}\n`);
}

function complain(cause: unknown): void {
  log(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
}

function giveUp(message: string, hint: string | undefined): never {
  process.stderr.write(`clawd: ${message}\n${hint === undefined ? "" : `  ${hint}\n`}`);
  process.exit(1);
}

/** The prebuilt addon beside the package's manifest that fits this Node, this system and this C library. */
function isolatedVmAddon(manifest: string): string {
  const libc = existsSync("/etc/alpine-release") ? "musl" : "glibc";
  const suffix = process.platform === "linux" ? `.${libc}` : "";
  const name = `isolated-vm.abi${process.versions.modules}${suffix}.node`;
  return join(dirname(manifest), "prebuilds", `${process.platform}-${process.arch}`, name);
}

async function main(): Promise<void> {
  const refusal = platformRefusal(process.platform);
  if (refusal !== undefined) {
    process.stderr.write(refusal);
    process.exit(1);
  }
  // First of all: later another thread may open what has the number of something that is closed here.
  closeInheritedDescriptors();
  // Syncs of different journals wait for the disk side by side: four threads would queue them.
  process.env.UV_THREADPOOL_SIZE ??= DISK_THREADS;
  // A file-size limit shall fail the write, not end the daemon.
  process.on("SIGXFSZ", () => {});
  const programs = dirname(fileURLToPath(import.meta.url));
  const { version } = JSON.parse(readFileSync(join(programs, "..", "package.json"), "utf8"));
  const home = homeAt(process.env.CLAWD_HOME ?? join(homedir(), ".clawd"), process.env.XDG_RUNTIME_DIR ?? "");
  await makeHome(home);
  const lock = lockHome(home.dir, process.pid);
  if (!lock.ok) giveUp(lock.failure.message, lock.failure.hint);

  let house: House | undefined;
  let ending = false;
  const shutdown = () => {
    if (ending) return process.exit(1);
    ending = true;
    setTimeout(() => process.exit(1), SHUTDOWN_LIMIT_MS).unref();
    void (house?.close() ?? Promise.resolve()).then(() => {
      lock.value.release();
      log("ended");
      process.exit(0);
    });
  };
  const dirInode = statSync(home.dir).ino;
  setInterval(() => {
    if (statSync(home.dir, { throwIfNoEntry: false })?.ino === dirInode) return;
    log(`the data folder ${home.dir} is gone`);
    shutdown();
  }, HOME_CHECK_MS).unref();
  // A failure that nobody waited for is our fault and one request's bad luck; the other conversations go on.
  process.on("unhandledRejection", complain);
  process.on("SIGTERM", shutdown);
  process.on("SIGINT", shutdown);

  const built = await buildHouse(home, {
    env: process.env,
    now: Date.now,
    ticks: () => performance.now(),
    pid: process.pid,
    version,
    programs,
    nodeBinary: process.execPath,
    nodeVersion: process.version,
    addonFile: isolatedVmAddon(createRequire(import.meta.url).resolve("isolated-vm/package.json")),
    log,
    complain,
    shutdown: () => setImmediate(shutdown),
  });
  if (!built.ok) giveUp(built.failure.message, built.failure.hint);
  house = built.value;
  log(`clawd ${version} (pid ${process.pid}) listens on ${house.socket}; ready after ${house.startedInMs} ms`);
}

await main();
