/** `Deno.addSignalListener`. Runs inside the isolate. */

import type { Call } from "./broker-call.ts";
import type { Asker } from "./deno-denial.ts";
import { notOffered } from "./deno-errors.ts";
import type { HeardSignal } from "./guest-protocol.ts";
import { ownMap } from "./own-map.ts";

type Listener = () => unknown;

export type Signals = {
  /** Functions of the namespace. */
  readonly surface: {
    addSignalListener(signal: unknown, listener: unknown): void;
    removeSignalListener(signal: unknown, listener: unknown): void;
  };
  /** `report` gets what a listener throws. */
  hear(signal: HeardSignal, report: (error: unknown) => void): void;
};

/** Signals that Deno knows and nobody sends to a script here. */
const UNHEARD =
  "SIGABRT SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGIO SIGPIPE SIGPROF SIGPWR SIGQUIT SIGSYS SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ";

function signalOf(signal: unknown): HeardSignal {
  if (signal === "SIGINT" || signal === "SIGTERM") return signal;
  if (typeof signal === "string" && ` ${UNHEARD} `.includes(` ${signal} `))
    throw notOffered(`a listener of ${signal}`, "SIGINT and SIGTERM are");
  throw new TypeError(`Invalid signal: ${signal}`);
}

export function denoSignals(asker: Asker, call: Call): Signals {
  const listeners = ownMap<HeardSignal, readonly Listener[]>();

  function keep(signal: HeardSignal, next: readonly Listener[]): void {
    const had = (listeners.get(signal) ?? []).length > 0;
    listeners.set(signal, next);
    if (had === next.length > 0) return;
    void call("listenSignal", { signal, on: next.length > 0 }).catch(() => {});
  }

  return {
    surface: {
      addSignalListener(signal, listener) {
        const name = signalOf(signal);
        if (asker === "hook") throw notOffered("Deno.addSignalListener in a hook", "");
        if (typeof listener !== "function") throw new TypeError("a listener must be a function");
        const known = listeners.get(name) ?? [];
        if (!known.includes(listener as Listener)) keep(name, [...known, listener as Listener]);
      },
      removeSignalListener(signal, listener) {
        const name = signalOf(signal);
        keep(
          name,
          (listeners.get(name) ?? []).filter((each) => each !== listener),
        );
      },
    },
    hear(signal, report) {
      for (const listener of listeners.get(signal) ?? []) {
        try {
          listener();
        } catch (error) {
          report(error);
        }
      }
    },
  };
}
