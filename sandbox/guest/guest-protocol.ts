/**
 * What the broker and the prelude inside a guest say to each other, as JSON texts that the hook host passes on unread.
 * The prelude shares its isolate with a stranger's code: the broker takes every text as that stranger's.
 */

import type { EnvView } from "./env-view.ts";

/** An error as plain text; `stack` in V8's format, empty when there is none. */
export type GuestError = { readonly name: string; readonly message: string; readonly stack: string };

export type ToGuest =
  | {
      readonly k: "load";
      /** `hook`: the default export answers events. `script`: the top level is the whole run. */
      readonly mode: "hook" | "script";
      /** An expression that gives an async function; it runs the module and hands its exports to its argument. */
      readonly source: string;
      readonly name: string;
      readonly args: readonly string[];
      readonly env: EnvView;
    }
  | { readonly k: "event"; readonly id: number; readonly event: unknown }
  | { readonly k: "reply"; readonly id: number; readonly ok: true; readonly value: string }
  | { readonly k: "reply"; readonly id: number; readonly ok: false; readonly name: string; readonly message: string }
  /** From the host itself: the time the guest asked for has come. */
  | { readonly k: "wake" };

export type FromGuest =
  | { readonly k: "loaded" }
  | { readonly k: "unloadable"; readonly error: GuestError }
  | { readonly k: "answer"; readonly id: number; readonly value: unknown }
  | { readonly k: "threw"; readonly id: number; readonly error: GuestError }
  | { readonly k: "log"; readonly to: "stdout" | "stderr"; readonly text: string }
  | { readonly k: "call"; readonly id: number; readonly name: "readTextFile"; readonly path: string }
  | { readonly k: "fault"; readonly error: GuestError }
  | { readonly k: "exit"; readonly code: number };

/** A text that begins with this is for the host alone: the milliseconds until it shall wake the guest, or nothing for never. */
export const WAKE_PREFIX = "T";

/** Longest text a guest may send, UTF-16 units. */
export const SAY_LIMIT_CHARS = 1024 * 1024;
/** Longest piece of console output in one text, UTF-16 units. */
export const LOG_PIECE_CHARS = 64 * 1024;
export const PENDING_CALLS_MAX = 64;
export const TIMERS_MAX = 64;
/** Console lines of a hook per event; what is beyond is left out. */
export const LOG_LINES_MAX = 1000;
