import type { Event, EventBody } from "../domain/event.ts";
import { type Failure, fail, ok, type Result } from "../domain/failure.ts";
import { type Position, START } from "./chain-reader.ts";
import { wrongSeq } from "./journal-fault.ts";
import { encodeLine } from "./line-codec.ts";

type Appended = Result<readonly Event[]>;

type Waiter = {
  readonly text: string;
  readonly events: readonly Event[];
  readonly hashBefore: string;
  readonly hashAfter: string;
  readonly settle: (result: Appended) => void;
};

/** Everything that waited, as one piece to write. */
export type Group = {
  readonly bytes: Buffer;
  readonly events: readonly Event[];
  readonly hashBefore: string;
  readonly hashAfter: string;
  /** Tells every writer of the group that its events are durable. */
  succeed(): void;
  fail(failure: Failure): void;
};

/** Appends on their way to the disk, already encoded, so that the next one can build on those before it. */
export type AppendQueue = {
  /** Resolves when the group that takes the events along is settled. `onAdded` runs when they wait. */
  add(expectedSeq: number, bodies: readonly EventBody[], onAdded: () => void): Appended | Promise<Appended>;
  /** Takes all that waits; undefined when nothing does. */
  take(): Group | undefined;
  /** Builds on another end from now on; what waits was built on the old one and is refused. */
  restart(end: Position, failure: Failure): void;
};

/** Lines that may wait for a slow disk, characters. */
const WAITING_LIMIT_CHARS = 64 * 1024 * 1024;

export function appendQueue(sessionId: string, now: () => number): AppendQueue {
  let planned: { readonly seq: number; readonly hash: string } = START;
  let waiting: Waiter[] = [];
  let waitingChars = 0;

  function takeWaiting(): readonly Waiter[] {
    const taken = waiting;
    waiting = [];
    waitingChars = 0;
    return taken;
  }

  return {
    add(expectedSeq, bodies, onAdded) {
      if (expectedSeq !== planned.seq) return wrongSeq(sessionId, expectedSeq, planned.seq);
      if (bodies.length === 0) return ok([]);
      const encoded = encodeAll(planned, bodies, now);
      if (!encoded.ok) return encoded;
      const { text, events, hashAfter } = encoded.value;
      if (waitingChars + text.length > WAITING_LIMIT_CHARS) {
        const message = `too much of session ${sessionId} waits for the disk; nothing was written`;
        return fail("exhausted", message, { hint: "try again in a moment" });
      }
      const hashBefore = planned.hash;
      planned = { seq: planned.seq + events.length, hash: hashAfter };
      waitingChars += text.length;
      return new Promise((settle) => {
        waiting.push({ text, events, hashBefore, hashAfter, settle });
        onAdded();
      });
    },
    take() {
      const group = takeWaiting();
      const [first, last] = [group[0], group.at(-1)];
      if (first === undefined || last === undefined) return undefined;
      return {
        bytes: Buffer.from(group.map(({ text }) => text).join("")),
        events: group.length === 1 ? first.events : group.flatMap(({ events }) => events),
        hashBefore: first.hashBefore,
        hashAfter: last.hashAfter,
        succeed: () => {
          for (const { settle, events } of group) settle(ok(events));
        },
        fail: (failure) => {
          for (const { settle } of group) settle({ ok: false, failure });
        },
      };
    },
    restart(end, failure) {
      planned = end;
      for (const { settle } of takeWaiting()) settle({ ok: false, failure });
    },
  };
}

type Encoded = { readonly text: string; readonly events: readonly Event[]; readonly hashAfter: string };

function encodeAll(
  from: { readonly seq: number; readonly hash: string },
  bodies: readonly EventBody[],
  now: () => number,
): Result<Encoded> {
  const events: Event[] = [];
  let text = "";
  let hashAfter = from.hash;
  for (const body of bodies) {
    const line = encodeLine(from.seq + events.length + 1, now(), body, hashAfter);
    if (!line.ok) return line;
    hashAfter = line.value.hash;
    text += line.value.text;
    events.push(line.value.event);
  }
  return ok({ text, events, hashAfter });
}
