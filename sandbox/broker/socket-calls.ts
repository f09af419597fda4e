import type { EgressSocket } from "../egress/web-socket.ts";
import type { SocketNews } from "../guest/guest-protocol.ts";
import { judgeHops, type NetworkDesk } from "./network-calls.ts";
import { done, type Outcome, refuse } from "./outcome.ts";
import { failureOutcome } from "./port-calls.ts";

/** WebSockets that one guest may have open. */
const SOCKETS_MAX = 8;

/** The WebSockets of one guest. */
export type GuestSockets = {
  open(
    desk: NetworkDesk,
    order: { readonly url: string; readonly protocols: readonly string[] },
    signal: AbortSignal,
  ): Promise<Outcome<{ socket: number; protocol: string }>>;
  send(socket: number, data: string | Buffer): Outcome<null>;
  read(socket: number, signal: AbortSignal): Promise<Outcome<SocketNews>>;
  close(socket: number, code: number | null, reason: string): Outcome<null>;
  /** Drops all of them. */
  end(): void;
};

export function guestSockets(): GuestSockets {
  const sockets = new Map<number, EgressSocket>();
  let lastId = 0;
  let opening = 0;
  let ended = false;

  function gone() {
    return refuse("BadResource", "the WebSocket is closed");
  }

  return {
    async open(desk, order, signal) {
      if (sockets.size + opening >= SOCKETS_MAX) return refuse("RangeError", `more than ${SOCKETS_MAX} WebSockets`);
      opening += 1;
      try {
        const { judge, finish } = judgeHops(desk, true);
        const opened = await desk.egress.socket(order, judge, signal);
        const refused = await finish();
        if (!opened.ok) return refused ?? failureOutcome(opened.failure, "TypeError");
        if (refused || ended || signal.aborted) {
          opened.value.destroy();
          return refused ?? refuse("Interrupted", "the WebSocket was given up");
        }
        lastId += 1;
        sockets.set(lastId, opened.value);
        return done({ socket: lastId, protocol: opened.value.protocol });
      } finally {
        opening -= 1;
      }
    },
    send(socket, data) {
      const open = sockets.get(socket);
      if (!open) return gone();
      return open.send(data) ? done(null) : refuse("RangeError", "more waits to be sent than may");
    },
    async read(socket, signal) {
      const open = sockets.get(socket);
      if (!open) return gone();
      let news: Awaited<ReturnType<EgressSocket["read"]>>;
      try {
        news = await open.read(signal);
      } catch {
        return refuse("Interrupted", "nothing is read any more");
      }
      if (news.kind === "close") sockets.delete(socket);
      return done(news.kind === "binary" ? { ...news, data: news.data.toString("base64") } : news);
    },
    close(socket, code, reason) {
      const open = sockets.get(socket);
      if (!open) return gone();
      open.close(code ?? undefined, reason);
      return done(null);
    },
    end() {
      ended = true;
      for (const open of sockets.values()) open.destroy();
      sockets.clear();
    },
  };
}
