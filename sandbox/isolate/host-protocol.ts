/**
 * What the daemon (the broker) and a hook host say to each other, one frame each. The texts that go to and come from
 * guests are opaque to the host.
 */

/** Limits of one guest, kept by the host; the broker's own clock stands behind them. */
export type GuestLimits = {
  /** Heap of the isolate, MiB. */
  readonly memoryMib: number;
  /** Wall time of one entry into the guest (an answer, a timer), milliseconds. */
  readonly sliceMs: number;
  /** After a slice's time is up, how long it may take to settle, milliseconds. */
  readonly stuckMs: number;
};

export type ToHost =
  | { readonly do: "open"; readonly guest: number; readonly limits: GuestLimits }
  /** `limitMs` 0 means the guest's own slice. */
  | { readonly do: "tell"; readonly guest: number; readonly text: string; readonly limitMs: number }
  | { readonly do: "close"; readonly guest: number };

/** Why a guest is over. `closed` because it was asked for. */
export type GuestEnd = "slice" | "memory" | "size" | "error" | "closed";

export type FromHost =
  | { readonly did: "ready" }
  | { readonly did: "said"; readonly guest: number; readonly text: string }
  /** Nothing runs and no timer is set; `heard` counts the texts it was told until then. */
  | { readonly did: "idle"; readonly guest: number; readonly heard: number }
  /** An error that no code of the guest caught. It lives on. */
  | { readonly did: "fault"; readonly guest: number; readonly text: string }
  | { readonly did: "ended"; readonly guest: number; readonly why: GuestEnd }
  /** A slice that does not stop: only SIGKILL of the host helps. */
  | { readonly did: "stuck"; readonly guest: number };

const ENDS: ReadonlySet<string> = new Set(["slice", "memory", "size", "error", "closed"] satisfies GuestEnd[]);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Checks every field of what a host sent; undefined for anything that is not exactly of this protocol. */
export function readFromHost(message: unknown): FromHost | undefined {
  if (!isRecord(message)) return undefined;
  const { did, guest, text } = message;
  if (did === "ready") return { did };
  if (!isCount(guest)) return undefined;
  switch (did) {
    case "said":
    case "fault":
      return typeof text === "string" ? { did, guest, text } : undefined;
    case "idle":
      return isCount(message.heard) ? { did, guest, heard: message.heard } : undefined;
    case "ended":
      return typeof message.why === "string" && ENDS.has(message.why)
        ? { did, guest, why: message.why as GuestEnd }
        : undefined;
    case "stuck":
      return { did, guest };
    default:
      return undefined;
  }
}

/** The host's side of the same; the broker is trusted, a torn message is still refused. */
export function readToHost(message: unknown): ToHost | undefined {
  if (!isRecord(message) || !isCount(message.guest)) return undefined;
  const { guest } = message;
  switch (message.do) {
    case "open": {
      const limits = message.limits;
      if (!isRecord(limits) || !isCount(limits.memoryMib) || !isCount(limits.sliceMs) || !isCount(limits.stuckMs))
        return undefined;
      return {
        do: "open",
        guest,
        limits: { memoryMib: limits.memoryMib, sliceMs: limits.sliceMs, stuckMs: limits.stuckMs },
      };
    }
    case "tell":
      return typeof message.text === "string" && isCount(message.limitMs)
        ? { do: "tell", guest, text: message.text, limitMs: message.limitMs }
        : undefined;
    case "close":
      return { do: "close", guest };
    default:
      return undefined;
  }
}
