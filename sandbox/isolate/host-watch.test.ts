import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type EngineRoom, openEngineRoom } from "../fixtures/engine-room.ts";
import { type HostProcess, startHost } from "./host-process.ts";
import { type HostWatch, hostWatch } from "./host-watch.ts";

let room: EngineRoom;
let watch: HostWatch;
const hosts: HostProcess[] = [];
beforeAll(async () => {
  room = await openEngineRoom();
});
beforeEach(() => {
  watch = hostWatch({ rssKillMib: 200, activeMs: 300 });
});
afterEach(async () => {
  watch.end();
  for (const host of hosts) host.kill();
  await Promise.all(hosts.splice(0).map((host) => host.gone));
});
afterAll(() => room.close());

/** Starts what a test writes in the place of a hook host. */
async function start(code: string, rssKillMib?: number): Promise<HostProcess> {
  const hostFile = join(room.folder, "watched-host.js");
  const ready = 'import fs from "node:fs"; fs.writeSync(3, Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));';
  await writeFile(hostFile, ready + code);
  const shape = { jit: false, memoryMib: 32, kept: 0 };
  const started = startHost(room.launcher, { ...room.files, hostFile }, shape, 10_000);
  if (!started.ok) throw new Error(started.failure.message);
  hosts.push(started.value);
  watch.add(started.value, rssKillMib);
  expect(await started.value.ready).toBe(true);
  return started.value;
}

const onLinux = test.skipIf(process.platform !== "linux");
if (process.platform !== "linux") console.info("what a process uses is only looked at on Linux");

const GROW = "const kept = []; setInterval(() => { if (kept.length < 30) kept.push(Buffer.alloc(2 ** 23, 1)); }, 5);";

onLinux("a process that uses a processor without being asked anything is killed", async () => {
  const host = await start("for (;;);");
  await host.gone;
  expect(host.death).toEqual({
    code: "exhausted",
    message: "kept a processor busy without being asked anything, and its process was killed",
  });
});

onLinux("a process that grows beyond its limit is killed, and one that may have more is not", async () => {
  const generous = await start(GROW, 2000);
  const host = await start(GROW);
  await host.gone;
  expect(host.death).toEqual({
    code: "exhausted",
    message: "used more than 200 MiB of memory, and its process was killed",
  });
  await expect.poll(() => watch.rssMib(generous), { timeout: 10_000 }).toBeGreaterThan(250);
  expect(generous.death).toBeUndefined();
});

onLinux("a process at rest is left alone", async () => {
  const host = await start("setInterval(() => {}, 1000);");
  await expect.poll(() => watch.rssMib(host), { timeout: 10_000 }).toBeGreaterThan(10);
  expect(host.death).toBeUndefined();
});
