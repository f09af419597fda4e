import { mkdir } from "node:fs/promises";
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type Failure, fail, type Result } from "../../core/domain/failure.ts";
import type { LeasedProcess } from "../../sandbox/os/launcher.ts";
import { waitFor } from "../link/wait.ts";
import { removeTree } from "../manifest/remove-tree.ts";
import {
  fieldOf,
  hearLines,
  MAX_LINE_BYTES,
  MAX_PROCESSES,
  MAX_TUNNELS,
  type StartOrder,
  sayLine,
  splice,
  textOf,
} from "../remote/wire.ts";
import { passBoot } from "./boot-line.ts";

const FOLDER_NAME_BYTES = 4;
/** A connection that the plugin opened and that nobody fetches is closed after this. */
const FETCH_LIMIT_MS = 10_000;
/** Last words are waited for no longer than this: a grandchild may hold the pipes. */
const LAST_WORDS_MS = 250;
/** Exit code of one that could not be started: that it is there again may help. */
const NOT_STARTED_CODE = 125;

export type ProcessHostParts = {
  /** Starts the plugin with its sockets in a folder; judges what was ordered. */
  readonly start: (order: StartOrder, socketFolder: string) => Promise<Result<LeasedProcess>>;
  /** For sockets; private. */
  readonly runtimeDir: string;
  readonly random: (bytes: number) => Uint8Array;
  readonly log: (line: string) => void;
};

type FarProcess = {
  readonly control: ServerHttp2Stream;
  readonly socketFolder: string;
  /** Resolves when it runs, or with why it never will. */
  readonly launched: Promise<Result<LeasedProcess>>;
  /** Connections of the plugin that the daemon has yet to fetch. */
  readonly waiting: Map<number, Socket>;
};

/** Serves the processes of one connection. They end with it, all of them and at once; the value resolves when they are gone. */
export function serveProcesses(session: ServerHttp2Session, parts: ProcessHostParts): { ended(): Promise<void> } {
  const processes = new Map<string, FarProcess>();
  const ends = new Set<Promise<void>>();
  session.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    const [, kind, id = "", part, tunnel = ""] = String(headers[":path"] ?? "").split("/");
    if (kind !== "process") return;
    if (part === undefined) {
      if (processes.has(id) || processes.size >= MAX_PROCESSES) return stream.close();
      const begun = beginProcess(stream, parts);
      processes.set(id, begun.process);
      ends.add(begun.ended);
      void begun.ended.then(() => {
        processes.delete(id);
        ends.delete(begun.ended);
      });
      return;
    }
    const process = processes.get(id);
    if (process === undefined) return stream.close();
    stream.respond({ ":status": 200 });
    void attach(process, stream, part, Number(tunnel));
  });
  return {
    ended: async () => {
      await Promise.all(ends);
    },
  };
}

function beginProcess(
  control: ServerHttp2Stream,
  parts: ProcessHostParts,
): { process: FarProcess; ended: Promise<void> } {
  const socketFolder = join(parts.runtimeDir, Buffer.from(parts.random(FOLDER_NAME_BYTES)).toString("hex"));
  const waiting = new Map<number, Socket>();
  const gone = Promise.withResolvers<void>();
  const order = Promise.withResolvers<unknown>();
  control.once("close", () => {
    gone.resolve();
    order.resolve(undefined);
  });
  control.respond({ ":status": 200 });
  let leased: LeasedProcess | undefined;
  let isKilled = false;
  hearLines(control, {
    maxBytes: MAX_LINE_BYTES,
    onLine: (value) => {
      order.resolve(fieldOf(value, "start"));
      const signal = textOf(value, "signal");
      if (signal === "terminate") leased?.terminate();
      if (signal === "interrupt") leased?.interrupt();
      if (signal !== "kill") return;
      isKilled = true;
      leased?.kill();
    },
    onNonsense: () => control.close(),
  });
  const launched = (async () => {
    const ordered = await waitFor(order.promise, FETCH_LIMIT_MS);
    const read = readOrder(ordered.came === "value" ? ordered.value : undefined);
    const started = read.ok ? await startIn(socketFolder, read.value, parts) : read;
    if (!started.ok) return started;
    leased = started.value;
    if (isKilled || control.closed) leased.kill();
    return started;
  })();
  const process: FarProcess = { control, socketFolder, launched, waiting };
  return { process, ended: endProcess(process, gone.promise, parts) };
}

async function startIn(
  socketFolder: string,
  order: StartOrder,
  { start }: ProcessHostParts,
): Promise<Result<LeasedProcess>> {
  try {
    await mkdir(socketFolder, { mode: 0o700 });
    return await start(order, socketFolder);
  } catch (cause) {
    return fail("unavailable", `it cannot be started: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** From the start of a process to the last trace of it. */
async function endProcess(process: FarProcess, gone: Promise<void>, parts: ProcessHostParts): Promise<void> {
  const { control, socketFolder, launched, waiting } = process;
  const started = await launched;
  try {
    if (!started.ok) {
      parts.log(`not started: ${sayFailure(started.failure)}`);
      sayLine(control, { exit: { code: NOT_STARTED_CODE } });
      return;
    }
    const leased = started.value;
    const door = serveHostSocket(process);
    parts.log(`started, process ${leased.pid}`);
    sayLine(control, { pid: leased.pid });
    void gone.then(leased.kill);
    const exit = await leased.exited;
    parts.log(`ended (${exit.signal ?? `code ${exit.code}`})`);
    await waitFor(Promise.all([closed(leased.stdout), closed(leased.stderr)]), LAST_WORDS_MS);
    for (const stream of [leased.stdin, leased.stdout, leased.stderr, ...leased.pipes]) stream.destroy();
    door.close();
    sayLine(control, { exit });
  } finally {
    control.end();
    for (const socket of waiting.values()) socket.destroy();
    // Not a link, even when the plugin made one of it: this removes what is there.
    await removeTree(socketFolder).catch((cause: unknown) =>
      parts.log(`${socketFolder} stays behind: ${String(cause)}`),
    );
  }
}

/** The socket of the host's services as the plugin sees it. Each connection waits until the daemon fetches it. */
function serveHostSocket({ control, socketFolder, waiting }: FarProcess): { close(): void } {
  let tunnels = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    const tunnel = ++tunnels;
    sockets.add(socket);
    waiting.set(tunnel, socket);
    const timer = setTimeout(() => socket.destroy(), FETCH_LIMIT_MS);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      clearTimeout(timer);
      sockets.delete(socket);
      waiting.delete(tunnel);
    });
    socket.once("fetched", () => clearTimeout(timer));
    sayLine(control, { tunnel });
  });
  server.maxConnections = MAX_TUNNELS;
  server.on("error", () => {});
  server.listen(join(socketFolder, "h.sock"));
  return {
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Joins a stream of the daemon's to what it is for. */
async function attach(
  { launched, socketFolder, waiting }: FarProcess,
  stream: ServerHttp2Stream,
  part: string,
  tunnel: number,
): Promise<void> {
  const started = await launched;
  if (stream.destroyed) return;
  // Where the plugin's last words would be.
  if (!started.ok) return void stream.end(part === "stderr" ? `error: ${sayFailure(started.failure)}\n` : "");
  const leased = started.value;
  switch (part) {
    case "stdin":
      passBoot(stream, leased.stdin, { listen: join(socketFolder, "p.sock"), host: join(socketFolder, "h.sock") });
      stream.end();
      return;
    case "stdout":
      return sendAll(leased.stdout, stream);
    case "stderr":
      return sendAll(leased.stderr, stream);
    case "pipe": {
      const [pipe] = leased.pipes;
      return pipe === undefined ? void stream.end() : splice(pipe, stream);
    }
    case "plugin":
      return splice(connect({ path: join(socketFolder, "p.sock"), allowHalfOpen: true }), stream);
    case "host": {
      const socket = waiting.get(tunnel);
      if (socket === undefined) return void stream.close();
      waiting.delete(tunnel);
      socket.emit("fetched");
      return splice(socket, stream);
    }
    default:
      stream.close();
  }
}

/** What the plugin prints goes out as fast as the daemon takes it. */
function sendAll(from: Readable, stream: ServerHttp2Stream): void {
  stream.resume();
  from.pipe(stream);
  from.once("close", () => stream.end());
}

function sayFailure({ message, hint }: Failure): string {
  return hint === undefined ? message : `${message} (${hint})`;
}

function closed(stream: Readable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (stream.closed) resolve();
  else stream.once("close", resolve);
  return promise;
}

function readOrder(value: unknown): Result<StartOrder> {
  const allow = fieldOf(value, "allow");
  const filesSha256 = textOf(value, "filesSha256");
  const pipes = fieldOf(value, "pipes");
  const isReadable = Array.isArray(allow) && allow.every((one) => typeof one === "string");
  if (!isReadable || filesSha256 === undefined || (pipes !== 0 && pipes !== 1)) {
    return fail("invalid", "the daemon ordered what this agent does not understand", {
      hint: "upgrade one of the two",
    });
  }
  return { ok: true, value: { allow, filesSha256, pipes } };
}
