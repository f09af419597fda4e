import type { Socket } from "node:net";

/** Connections on which nothing was said yet: they cost a descriptor. The oldest makes room for the next. */
const MAX_SILENT = 256;
const SILENCE_LIMIT_MS = 10_000;

/** Where connections are until they say their first word; who says none for ten seconds is gone. */
export type WaitingRoom = { admit(socket: Socket, onWord: () => void): void };

export function openWaitingRoom(): WaitingRoom {
  const silent = new Set<Socket>();
  return {
    admit(socket, onWord) {
      makeRoom(silent, MAX_SILENT);
      silent.add(socket);
      const timer = setTimeout(() => socket.destroy(), SILENCE_LIMIT_MS).unref();
      socket.once("close", () => {
        clearTimeout(timer);
        silent.delete(socket);
      });
      // What came so far, the handshake takes from where it is.
      socket.once("readable", () => {
        clearTimeout(timer);
        silent.delete(socket);
        if (!socket.destroyed) onWord();
      });
    },
  };
}

/** Before one more comes in: the oldest goes when there are as many as may be. */
export function makeRoom(sockets: Set<Socket>, most: number): void {
  const [oldest] = sockets;
  if (oldest === undefined || sockets.size < most) return;
  sockets.delete(oldest);
  oldest.destroy();
}
