import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { fail, ok } from "../../core/domain/failure.ts";
import type { LeasedProcess } from "../../sandbox/os/launcher.ts";
import { type FarLink, openFarLink } from "../fixtures/far-place.ts";
import { bareLauncher, survivorsOf } from "../fixtures/plugin-lab.ts";
import { MAX_TUNNELS } from "./wire.ts";

const DIGEST = "0".repeat(64);
const MIB = 1024 * 1024;
const ORDER = { allow: [], filesSha256: DIGEST, pipes: 0 };

let link: FarLink | undefined;
const folders: string[] = [];
afterEach(async () => {
  await link?.close();
  link = undefined;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The shell as a plugin, told apart by a marker among its arguments. */
async function openShell(script: string, marker = "far-shell"): Promise<FarLink> {
  link = await openFarLink(async (_order, socketFolder) =>
    ok(
      bareLauncher.launch({
        command: ["/bin/sh", "-c", script, marker],
        cwd: "/",
        env: { PATH: "/usr/bin:/bin", SOCKETS: socketFolder },
        confinement: { read: [], write: [socketFolder], network: "none", system: "programs" },
        limits: {},
        pipes: 0,
      }),
    ),
  );
  return link;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fl-"));
  folders.push(folder);
  return folder;
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

test("streams, exit code and pid are those of the process at the other end", async () => {
  const { agent } = await openShell('read line; echo "out $line"; echo "err $line" >&2; exit 7');
  const process = agent.launch(ORDER, undefined);
  process.stdin.write("hello\n");
  const [out, err] = await Promise.all([textOf(process.stdout), textOf(process.stderr)]);
  expect([out, err]).toEqual(["out hello\n", "err hello\n"]);
  expect(await process.exited).toEqual({ code: 7, signal: null });
  expect(process.pid).toBeGreaterThan(1);
});

test("a start that is refused is a process that ended, and says why", async () => {
  link = await openFarLink(async () => fail("denied", "not here", { hint: "elsewhere" }));
  const process = link.agent.launch(ORDER, undefined);
  expect(await textOf(process.stderr)).toBe("error: not here (elsewhere)\n");
  expect(await process.exited).toEqual({ code: 125, signal: null });
});

test("the end of standard input, SIGTERM and SIGKILL reach it", async () => {
  const { agent } = await openShell('trap "exit 3" TERM; echo up; cat >/dev/null; exit 5');
  const tethered = await startUp(agent);
  tethered.stdin.end();
  expect(await tethered.exited).toEqual({ code: 5, signal: null });
  const terminated = await startUp(agent);
  terminated.terminate();
  // The shell hears it when what it waits for is over.
  terminated.stdin.end();
  expect(await terminated.exited).toEqual({ code: 3, signal: null });
  const killed = await startUp(agent);
  killed.kill();
  expect(await killed.exited).toEqual({ code: null, signal: "SIGKILL" });
});

async function startUp(agent: FarLink["agent"]): Promise<LeasedProcess> {
  const process = agent.launch(ORDER, undefined);
  await new Promise((done) => process.stdout.once("data", done));
  return process;
}

test("a process whose connection is cut is lost for the daemon, not killed, and nothing of it is left at the agent", async () => {
  const marker = `far-${process.pid}-cut`;
  const { agent, socket, ended } = await openShell("sleep 600 & sleep 600", marker);
  const far = agent.launch(ORDER, undefined);
  await expect.poll(() => far.pid).toBeGreaterThan(0);
  socket.destroy();
  expect(await far.exited).toEqual({ code: null, signal: null, lost: true });
  expect(await ended).toEqual({ because: "the connection is lost", forGood: false });
  expect(await survivorsOf(marker)).toEqual([]);
});

test("a reader that stands still holds the writer up, and nobody else", async () => {
  const { agent } = await openShell("head -c 40000000 /dev/zero; echo done >&2");
  const far = agent.launch(ORDER, undefined);
  far.stdout.pause();
  let heard = "";
  far.stderr.on("data", (chunk: Buffer) => {
    heard += chunk.toString();
  });
  await expect.poll(() => far.stdout.readableLength).toBeGreaterThan(0);
  const other = agent.launch(ORDER, undefined);
  let bytes = 0;
  for await (const chunk of other.stdout) bytes += (chunk as Buffer).byteLength;
  expect(bytes).toBe(40_000_000);
  // The other one is through, and this one has yet to be let go on.
  expect(far.stdout.readableLength).toBeLessThan(MIB);
  expect(heard).toBe("");
  bytes = 0;
  for await (const chunk of far.stdout) bytes += (chunk as Buffer).byteLength;
  expect(bytes).toBe(40_000_000);
  await far.exited;
  expect(heard).toBe("done\n");
});

test("connections to the host's socket come out on this side, whole and in both directions", async () => {
  const folder = temporaryFolder();
  const [listen, host] = [join(folder, "p.sock"), join(folder, "h.sock")];
  const served: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    served.push(socket);
    socket.on("data", (chunk: Buffer) => socket.write(chunk.toString().toUpperCase()));
    socket.on("end", () => socket.end());
  });
  const listening = Promise.withResolvers<void>();
  server.listen(host, listening.resolve);
  await listening.promise;
  const script = `
    const { connect } = require("node:net");
    const socket = connect({ path: process.env.SOCKETS + "/h.sock", allowHalfOpen: true });
    socket.end("hello over there");
    socket.pipe(process.stdout);
  `;
  link = await openFarLink(async (_order, socketFolder) =>
    ok(
      bareLauncher.launch({
        command: [process.execPath, "-e", script],
        cwd: "/",
        env: { SOCKETS: socketFolder },
        confinement: { read: [], write: [socketFolder], network: "none", system: "programs" },
        limits: {},
        pipes: 0,
      }),
    ),
  );
  const far = link.agent.launch(ORDER, { listen, host });
  expect(await textOf(far.stdout)).toBe("HELLO OVER THERE");
  await far.exited;
  expect(served.length).toBe(1);
  server.close();
});

test("as many connections as there may be go both ways at once, and one more is closed", async () => {
  const folder = temporaryFolder();
  const [listen, host] = [join(folder, "p.sock"), join(folder, "h.sock")];
  const echo = createServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  const listening = Promise.withResolvers<void>();
  echo.listen(host, listening.resolve);
  await listening.promise;
  const script = `
    const { connect, createServer } = require("node:net");
    const echo = createServer((socket) => socket.on("error", () => {}).pipe(socket));
    echo.listen(process.env.SOCKETS + "/p.sock");
    const open = (heard) => connect(process.env.SOCKETS + "/h.sock")
      .on("error", () => {}).on("close", () => console.log("closed")).once("data", heard).write("x");
    let echoed = 0;
    for (let at = 0; at < ${MAX_TUNNELS}; at += 1) open(() => {
      echoed += 1;
      if (echoed < ${MAX_TUNNELS}) return;
      console.log("all");
      open(() => console.log("one more"));
    });
  `;
  link = await openFarLink(async (_order, socketFolder) =>
    ok(
      bareLauncher.launch({
        command: [process.execPath, "-e", script],
        cwd: "/",
        env: { SOCKETS: socketFolder },
        confinement: { read: [], write: [socketFolder], network: "none", system: "programs" },
        limits: {},
        pipes: 0,
      }),
    ),
  );
  const far = link.agent.launch(ORDER, { listen, host });
  let said = "";
  far.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  await expect.poll(() => said, { timeout: 10_000 }).toBe("all\nclosed\n");
  const calls = Array.from({ length: MAX_TUNNELS }, () => connect(listen));
  const echoes = calls.map(
    (socket) =>
      new Promise<string>((resolve, reject) => {
        socket.once("error", reject);
        socket.once("data", (chunk: Buffer) => resolve(chunk.toString()));
        socket.write("y");
      }),
  );
  expect(await Promise.all(echoes)).toEqual(calls.map(() => "y"));
  const more = connect(listen);
  more.on("error", () => {});
  await new Promise((done) => more.once("close", done));
  for (const socket of calls) socket.destroy();
  far.kill();
  await far.exited;
  echo.close();
});

test("an agent that says nonsense about a process has lost it", async () => {
  const { agent } = await openShell("sleep 600");
  const far = agent.launch({ ...ORDER, pipes: 7 }, undefined);
  expect(await textOf(far.stderr)).toContain("what this agent does not understand");
  expect(await far.exited).toEqual({ code: 125, signal: null });
});
