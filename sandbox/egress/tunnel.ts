import type { Socket } from "node:net";

/** Joins two connections: what one says the other hears, halves end on their own, and an accident ends both. */
export function joinSockets(one: Socket, other: Socket, idleLimitMs: number): void {
  pass(one, other, idleLimitMs);
  pass(other, one, idleLimitMs);
}

function pass(from: Socket, to: Socket, idleLimitMs: number): void {
  from.setTimeout(idleLimitMs, () => from.destroy());
  from.on("error", () => to.destroy());
  // After an orderly end what was passed on may still be under way.
  from.once("close", () => {
    if (!from.readableEnded) to.destroy();
  });
  from.pipe(to);
}
