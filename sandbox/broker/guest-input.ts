import type { HeardSignal } from "../guest/guest-protocol.ts";

/** What a script reads, and which signals it hears: they come from the person who runs it. */
export type GuestInput = {
  /** The next piece, of at most so many bytes; null at the end. One asks at a time. */
  read(bytes: number, signal: AbortSignal): Promise<Uint8Array | null>;
  listen(signal: HeardSignal, on: boolean): void;
};
