/**
 * What the daemon (the broker) and a hook host say to each other, one frame each. The texts that go to and come from
 * guests are opaque to the host.
 */

import type { FromGuest } from "../guest/guest-protocol.ts";
import type { Frame } from "./frame.ts";

/** What a hook says when its load is done, as the prelude of a script writes it; the host says it in its place. */
export const LOADED = JSON.stringify({ k: "loaded" } satisfies FromGuest);

/** Limits of one guest, kept by the host; the broker's own clock stands behind them. */
export type GuestLimits = {
  /** Heap of the isolate, MiB. */
  readonly memoryMib: number;
  /** Wall time of one entry into the guest (an answer, a timer), milliseconds. */
  readonly sliceMs: number;
  /** All entries from one `ask` to the next together, milliseconds. */
  readonly activeMs: number;
  /** After a slice's time is up, how long it may take to settle, milliseconds. */
  readonly stuckMs: number;
  /** Whether it may wait for an answer within a slice; that time does not count. For guests with a process of their own. */
  readonly mayStand: boolean;
};

/** `limitMs` 0 means the guest's own slice. */
export type ToHost =
  | { readonly do: "open"; readonly guest: number; readonly limits: GuestLimits }
  /** A text that begins something: the account of active time is new from here. */
  | { readonly do: "ask"; readonly guest: number; readonly text: string; readonly limitMs: number }
  /** The same, which waits until the guest has said `LOADED`: so the first event needs no way to the broker and back. */
  | { readonly do: "askLoaded"; readonly guest: number; readonly text: string; readonly limitMs: number }
  /** A text that goes on with it. */
  | { readonly do: "tell"; readonly guest: number; readonly text: string; readonly limitMs: number }
  /** The text that a guest stands still for. */
  | { readonly do: "answer"; readonly guest: number; readonly text: string }
  | { readonly do: "close"; readonly guest: number };

/** Why a guest is over, in the order of their numbers on the wire. `closed` because it was asked for. */
export const GUEST_ENDS = ["slice", "active", "memory", "size", "error", "closed"] as const;
export type GuestEnd = (typeof GUEST_ENDS)[number];

export type FromHost =
  | { readonly did: "ready" }
  | { readonly did: "said"; readonly guest: number; readonly text: string }
  /** Nothing runs and no timer is set; `heard` counts the texts it was told until then. */
  | { readonly did: "idle"; readonly guest: number; readonly heard: number }
  /** An error that no code of the guest caught. It lives on. */
  | { readonly did: "fault"; readonly guest: number; readonly text: string }
  | { readonly did: "ended"; readonly guest: number; readonly why: GuestEnd }
  /** A slice that does not stop: only SIGKILL of the host helps. */
  | { readonly did: "stuck"; readonly guest: number }
  /** It could go on, but others are running; followed by `turn`. A new guest waits without saying so. */
  | { readonly did: "waits"; readonly guest: number }
  | { readonly did: "turn"; readonly guest: number };

const ORDERS = ["open", "ask", "tell", "close", "askLoaded", "answer"] as const satisfies readonly ToHost["do"][];
const NEWS = [
  "ready",
  "said",
  "idle",
  "fault",
  "ended",
  "stuck",
  "waits",
  "turn",
] as const satisfies readonly FromHost["did"][];

export function orderFrame(order: ToHost): Frame {
  const kind = ORDERS.indexOf(order.do);
  const { guest } = order;
  switch (order.do) {
    case "open":
      return { kind, guest, number: 0, text: JSON.stringify(order.limits) };
    case "ask":
    case "askLoaded":
    case "tell":
      return { kind, guest, number: order.limitMs, text: order.text };
    case "answer":
      return { kind, guest, number: 0, text: order.text };
    case "close":
      return { kind, guest, number: 0, text: "" };
  }
}

/** The broker is trusted; a torn frame is still refused. */
export function readOrder({ kind, guest, number, text }: Frame): ToHost | undefined {
  const verb = ORDERS[kind];
  switch (verb) {
    case "open":
      return { do: "open", guest, limits: JSON.parse(text) as GuestLimits };
    case "ask":
    case "askLoaded":
    case "tell":
      return { do: verb, guest, text, limitMs: number };
    case "answer":
      return { do: verb, guest, text };
    case "close":
      return { do: "close", guest };
    default:
      return undefined;
  }
}

export function newsFrame(news: FromHost): Frame {
  const kind = NEWS.indexOf(news.did);
  const guest = news.did === "ready" ? 0 : news.guest;
  switch (news.did) {
    case "said":
    case "fault":
      return { kind, guest, number: 0, text: news.text };
    case "idle":
      return { kind, guest, number: news.heard, text: "" };
    case "ended":
      return { kind, guest, number: GUEST_ENDS.indexOf(news.why), text: "" };
    default:
      return { kind, guest, number: 0, text: "" };
  }
}

/** Checks every field of what a host sent; undefined for anything that is not exactly of this protocol. */
export function readNews({ kind, guest, number, text }: Frame): FromHost | undefined {
  const did = NEWS[kind];
  switch (did) {
    case "ready":
      return { did };
    case "said":
    case "fault":
      return { did, guest, text };
    case "idle":
      return { did, guest, heard: number };
    case "ended": {
      const why = GUEST_ENDS[number];
      return why && { did, guest, why };
    }
    case "stuck":
    case "waits":
    case "turn":
      return { did, guest };
    default:
      return undefined;
  }
}
