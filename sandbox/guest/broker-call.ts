/** Calls to the broker, and their answers. Runs inside the isolate. */

import type { AbortSignal } from "./abort.ts";
import {
  type CallAnswer,
  type CallError,
  type CallName,
  type Calls,
  type FromGuest,
  type Json,
  PENDING_CALLS_MAX,
} from "./guest-protocol.ts";
import { ownMap } from "./own-map.ts";

/**
 * Asks the broker. Rejects with the error it names, with a RangeError when too much is under way or too large, and with
 * the signal's reason once that is aborted; what the broker still does then is given up.
 */
export type Call = <N extends CallName>(name: N, args: Calls[N][0], signal?: AbortSignal) => Promise<Calls[N][1]>;

/** The same, with the guest standing still until the answer is there. Throws what `Call` rejects with. */
export type CallNow = <N extends CallName>(name: N, args: Calls[N][0]) => Calls[N][1];

/** The two ways to ask. */
export type Calling = { readonly call: Call; readonly callNow: CallNow };

export type BrokerCalls = Calling & {
  /** Hands over an answer; one to a call that nobody waits for is dropped. */
  settle(id: number, answer: CallAnswer): void;
  /** Takes the next id without a call: for what the host answers instead of the broker. */
  wait(begin: (id: number) => void): Promise<Json>;
  /** How many calls are under way. */
  pending(): number;
};

const { apply } = Reflect;
const { then } = Promise.prototype;
const PromiseOf = Promise;
const RangeErrorOf = RangeError;

/**
 * `stand` says something and gives the answer to it. `makeError` turns the broker's words into the error that a guest
 * expects: an instance of the class of that name. `changed` hears when a call has begun or ended.
 */
export function brokerCalls(
  say: (message: FromGuest) => void,
  stand: (message: FromGuest) => CallAnswer,
  makeError: (error: CallError) => Error,
  changed: () => void,
): BrokerCalls {
  const waiting = ownMap<number, (answer: CallAnswer) => void>();
  let lastId = 0;

  /** Gives `id` up when the signal is aborted; the function that is returned ends that. */
  function follow(signal: AbortSignal, id: number, reject: (reason: unknown) => void): () => void {
    const giveUp = () => {
      waiting.delete(id);
      changed();
      lastId += 1;
      say({ k: "call", id: lastId, name: "abort", args: { call: id } });
      reject(signal.reason);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    return () => signal.removeEventListener("abort", giveUp);
  }

  function checkRoom(): void {
    if (waiting.size() >= PENDING_CALLS_MAX) throw new RangeErrorOf(`more than ${PENDING_CALLS_MAX} calls at once`);
  }

  function callNow(name: CallName, args: Json): Json {
    checkRoom();
    lastId += 1;
    const answer = stand({ k: "call", id: lastId, name, args, stands: true });
    if (!answer.ok) throw makeError(answer.error);
    return answer.value;
  }

  function wait(begin: (id: number) => void, signal?: AbortSignal): Promise<Json> {
    const answered = new PromiseOf<CallAnswer>((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      checkRoom();
      lastId += 1;
      const id = lastId;
      begin(id);
      const leave = signal && follow(signal, id, reject);
      waiting.set(id, (answer) => {
        leave?.();
        resolve(answer);
      });
      changed();
    });
    // The error is made here, and not when the answer comes in, for the sake of its stack: V8 can follow a promise to
    // the guest's lines that wait for it.
    return apply(then, answered, [
      (answer: CallAnswer) => {
        if (!answer.ok) throw makeError(answer.error);
        return answer.value;
      },
    ]) as Promise<Json>;
  }

  return {
    call: ((name: CallName, args: Json, signal?: AbortSignal) =>
      wait((id) => say({ k: "call", id, name, args }), signal)) as Call,
    callNow: callNow as CallNow,
    settle(id, answer) {
      const heard = waiting.get(id);
      waiting.delete(id);
      changed();
      heard?.(answer);
    },
    wait,
    pending: () => waiting.size(),
  };
}
