import { createServer, type Socket } from "node:net";
import type { AddressJudge } from "./address-judge.ts";
import type { Egress } from "./egress.ts";
import { createHttpProxy } from "./http-proxy.ts";
import { IDLE_LIMIT_MS, type ProxyDial } from "./proxy-dial.ts";
import { SOCKS_VERSION, serveSocks } from "./socks-proxy.ts";

/** Connections of one child at once. */
const CONNECTIONS_LIMIT = 256;

/** A connection that a child asked for in vain; `message` and `hint` name the permission and the flag. */
export type DeniedConnection = {
  readonly host: string;
  readonly port: number;
  readonly message: string;
  readonly hint: string;
};

export type EgressProxyOptions = {
  readonly egress: Pick<Egress, "dial">;
  readonly judge: AddressJudge;
  readonly onDenied: (denied: DeniedConnection) => void;
};

/** The proxy of one child: HTTP and SOCKS5 on one socket, each connection judged. */
export type EgressProxy = {
  /** Listens on a unix socket at once. Throws when it cannot. */
  listenAt(socket: string): void;
  /** Listens on a free port of 127.0.0.1, which it resolves to. Rejects when it cannot. */
  listenOnLoopback(): Promise<number>;
  /** Ends every connection, also those that are being made. */
  close(): void;
};

export function createEgressProxy({ egress, judge, onDenied }: EgressProxyOptions): EgressProxy {
  const closing = new AbortController();
  const open = new Set<Socket>();

  function hold(socket: Socket): void {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    if (closing.signal.aborted) socket.destroy();
  }

  const dial: ProxyDial = async (host, port) => {
    const dialled = await egress.dial(host, port, judge, closing.signal);
    if (dialled.ok) hold(dialled.value);
    else if (dialled.failure.code === "denied") {
      const { message, hint = "" } = dialled.failure;
      onDenied({ host, port, message, hint });
    }
    return dialled;
  };

  const http = createHttpProxy(dial);
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    hold(socket);
    socket.on("error", () => socket.destroy()).setTimeout(IDLE_LIMIT_MS, () => socket.destroy());
    socket.once("data", (first) => {
      socket.pause();
      socket.unshift(first);
      // A client that leaves in the middle of its greeting wants no answer.
      if (first[0] === SOCKS_VERSION) {
        serveSocks(socket, dial).catch(() => socket.destroy());
      } else {
        http.emit("connection", socket);
        socket.resume();
      }
    });
  });
  server.maxConnections = CONNECTIONS_LIMIT;

  return {
    listenAt(socket) {
      let problem: Error | undefined;
      server.on("error", (error) => {
        problem = error;
      });
      server.listen(socket);
      if (!server.listening) throw new Error(`no proxy can listen at ${socket}`, { cause: problem });
    },
    listenOnLoopback: () =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(0, "127.0.0.1", () => {
          const address = server.address();
          resolve(typeof address === "object" && address ? address.port : 0);
        });
      }),
    close() {
      closing.abort();
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
