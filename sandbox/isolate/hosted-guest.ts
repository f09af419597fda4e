import type { FailureCode } from "../../core/domain/failure.ts";
import { FRAME_LIMIT_BYTES } from "./frame.ts";
import type { GuestEnd, GuestLimits } from "./host-protocol.ts";

/**
 * How a guest came to its end; `message` goes on after the guest's name: "used more than …". `killed`: its process had to
 * be killed, and it is to blame. `again`: whether what it was doing is worth another try, because another guest was to
 * blame (`beside` others), or because nobody knows whether it was (`alone`, so that the next time it is known).
 */
export type GuestDeath = {
  readonly code: FailureCode;
  readonly message: string;
  readonly killed: boolean;
  readonly again: Again;
};

export type Again = "no" | "beside" | "alone";

export type GuestEars = {
  said(text: string): void;
  /** Nothing runs and no timer is set, after everything it was told. */
  idle(): void;
  fault(text: string): void;
  /** It stands in the queue of its process from now on (true), or no longer. */
  queued(waits: boolean): void;
  /** Exactly once, the last that is heard. */
  ended(death: GuestDeath): void;
  /** Whether it is expected to answer something. */
  owes(): boolean;
};

export type Guest = {
  /** Goes on with what was asked. False when the text is larger than a frame may be; it was not sent. */
  tell(text: string): boolean;
  /** Hands over what it stands still for. False as with `tell`. */
  answer(text: string): boolean;
  /** Begins something, with a new account of active time. `limitMs` 0 means the guest's own slice. */
  ask(text: string, limitMs: number): boolean;
  /** The same in its own slice, once the guest has said that it is loaded. */
  askLoaded(text: string): boolean;
  close(): void;
};

/** What an end of the guest's own is called. */
export const END_TEXT: Record<GuestEnd, (limits: GuestLimits) => { code: FailureCode; message: string }> = {
  slice: (limits) => ({ code: "timed_out", message: `ran for ${limits.sliceMs} ms without a pause` }),
  active: (limits) => ({ code: "timed_out", message: `used more than ${limits.activeMs} ms of running time` }),
  memory: (limits) => ({ code: "exhausted", message: `used more than its ${limits.memoryMib} MiB of memory` }),
  size: () => ({ code: "exhausted", message: `sent more than ${FRAME_LIMIT_BYTES / 1024 / 1024} MiB at once` }),
  error: () => ({ code: "unavailable", message: "got no isolate to run in" }),
  closed: () => ({ code: "cancelled", message: "was closed" }),
};
