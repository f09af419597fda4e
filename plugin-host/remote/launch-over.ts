import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Exit, LeasedProcess } from "../../sandbox/os/launcher.ts";
import {
  fieldOf,
  hearLines,
  MAX_LINE_BYTES,
  MAX_TUNNELS,
  numberOf,
  PATHS,
  type StartOrder,
  sayLine,
  splice,
  textOf,
} from "./wire.ts";

/** Nobody knows how it ended, only that it is of no use any more. */
const LOST: Exit = { code: null, signal: null, lost: true };
/** A plugin that was killed and whose end nobody tells is taken for dead after this. */
const KILL_LIMIT_MS = 5_000;
/** Lines of one process beside its exit: its pid, and one for each connection to its host. */
const MAX_LINES = 100_000;

export type FarLaunch = {
  readonly session: ClientHttp2Session;
  /** Its number on this session; none is used twice. */
  readonly process: number;
  readonly order: StartOrder;
  /** Where the daemon dials the plugin and where it serves it, absolute; undefined for one that speaks by its standard streams. */
  readonly sockets: { readonly listen: string; readonly host: string } | undefined;
};

/**
 * Has the agent at the other end start its plugin, and gives the process as if it were here: its streams, and for its two
 * sockets one here whose every connection is led there, or from there. Nothing is thrown later: a start that fails is a
 * process that ended, and says on standard error why.
 */
export function launchOver({ session, process, order, sockets }: FarLaunch): LeasedProcess {
  const open = (path: string): ClientHttp2Stream => {
    const stream = session.request({ ":method": "POST", ":path": path });
    // What breaks is seen by its close, and by the exit.
    stream.on("error", () => {});
    return stream;
  };
  const control = open(PATHS.process(process));
  const [stdin, stdout, stderr] = [
    open(PATHS.stdin(process)),
    open(PATHS.stdout(process)),
    open(PATHS.stderr(process)),
  ];
  const pipes = order.pipes > 0 ? [open(PATHS.pipe(process))] : [];
  // Nothing comes back on it, and unread it would never be over.
  stdin.resume();
  sayLine(control, { start: order });

  let pid = 0;
  let lines = 0;
  const host =
    sockets === undefined ? undefined : openHost(sockets.host, (tunnel) => open(PATHS.host(process, tunnel)));
  const exit = Promise.withResolvers<Exit>();
  const door = sockets === undefined ? undefined : openDoor(sockets.listen, () => open(PATHS.plugin(process)));
  const end = (how: Exit) => {
    door?.close();
    host?.close();
    if (!control.closed) control.close();
    exit.resolve(how);
  };
  const hear = (value: unknown) => {
    lines += 1;
    if (lines > MAX_LINES) return end(LOST);
    pid = numberOf(value, "pid") ?? pid;
    const tunnel = numberOf(value, "tunnel");
    if (tunnel !== undefined) host?.fetch(tunnel);
    const ended = fieldOf(value, "exit");
    if (ended !== undefined) end(readExit(ended));
  };
  hearLines(control, { maxBytes: MAX_LINE_BYTES, onLine: hear, onNonsense: () => end(LOST) });
  control.once("close", () => end(LOST));
  let killTimer: NodeJS.Timeout | undefined;
  const exited = exit.promise.finally(() => clearTimeout(killTimer));
  return {
    get pid() {
      return pid;
    },
    stdin,
    stdout,
    stderr,
    pipes,
    exited,
    kill() {
      sayLine(control, { signal: "kill" });
      killTimer ??= setTimeout(() => end({ code: null, signal: "SIGKILL" }), KILL_LIMIT_MS).unref();
    },
    terminate: () => sayLine(control, { signal: "terminate" }),
    interrupt: () => sayLine(control, { signal: "interrupt" }),
  };
}

/** Listens where the plugin is dialled; each connection goes on at the other end. */
function openDoor(path: string, open: () => Duplex): { close(): void } {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    splice(socket, open());
  });
  server.maxConnections = MAX_TUNNELS;
  // One that cannot listen is a plugin that does not: whoever dials it finds that out.
  server.on("error", () => {});
  server.listen(path);
  return {
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Fetches the connections that the plugin opened to its host's services, and leads them there. */
function openHost(path: string, open: (tunnel: number) => Duplex): { fetch(tunnel: number): void; close(): void } {
  let isClosed = false;
  const held = new Set<Socket>();
  /** The end of one and the beginning of the next may overtake each other on their way. */
  const announced: number[] = [];
  const fetchNext = () => {
    if (isClosed || held.size >= MAX_TUNNELS) return;
    const tunnel = announced.shift();
    if (tunnel === undefined) return;
    const socket = connect({ path, allowHalfOpen: true });
    held.add(socket);
    socket.once("close", () => {
      held.delete(socket);
      fetchNext();
    });
    splice(open(tunnel), socket);
  };
  return {
    fetch(tunnel) {
      // One that is not fetched, the agent closes.
      if (announced.length >= MAX_TUNNELS) return;
      announced.push(tunnel);
      fetchNext();
    },
    close() {
      isClosed = true;
    },
  };
}

function readExit(value: unknown): Exit {
  const signal = textOf(value, "signal");
  // The name is shown only, and looked up nowhere.
  if (signal !== undefined && /^SIG[A-Z0-9]{2,10}$/.test(signal))
    return { code: null, signal: signal as NodeJS.Signals };
  return { code: numberOf(value, "code") ?? 1, signal: null };
}
