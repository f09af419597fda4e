import { setTimeout as pause } from "node:timers/promises";
import { ok, type Result } from "../domain/failure.ts";
import type { Awake } from "./awake-session.ts";
import type { AwakeSessions } from "./awake-sessions.ts";
import type { RunningTurns } from "./running-turns.ts";
import { fireHooks } from "./turn/fire-hooks.ts";
import type { TurnContext, TurnServices } from "./turn/turn-context.ts";

/** How long an orderly end waits for turns to close, milliseconds. */
const CLOSE_LIMIT_MS = 8_000;
/** How long it waits after that for clients to hear of it, milliseconds. */
const TELL_LIMIT_MS = 1_000;
const TELL_POLL_MS = 5;

export type CloseParts = {
  readonly hooks: TurnServices["hooks"];
  readonly awake: AwakeSessions;
  readonly turns: RunningTurns;
  /** A session outside a turn, for as long as anybody is to be told. */
  readonly outsideTurn: (session: Awake) => TurnContext;
  /** Aborted first: no turn may run any more. */
  readonly stopping: AbortController;
  /** Aborted last: nobody is to be told any more. */
  readonly closing: AbortController;
};

/** Interrupts what runs and waits, within limits, until it has ended, its hooks were heard and its listeners told. */
export async function closeSessions(parts: CloseParts): Promise<void> {
  const { stopping, turns, closing } = parts;
  stopping.abort();
  await within(
    CLOSE_LIMIT_MS,
    turns.ended().then(() => hearClosingOfAll(parts)),
  );
  await within(TELL_LIMIT_MS, everyoneTold(parts));
  closing.abort();
}

/** Lets the hooks of session.closed hear of a session's end, and writes their receipts. */
export async function hearClosing(turn: TurnContext, reason: "removed" | "daemon ended"): Promise<Result<void>> {
  if (turn.writer.failure() !== undefined) return ok(undefined);
  const { bodies } = await fireHooks(turn, { at: "session.closed", value: { reason } });
  const written = bodies.length === 0 ? ok([]) : await turn.writer.write(() => ok(bodies));
  return written.ok ? ok(undefined) : written;
}

/** The sessions in memory are those that people were in. */
async function hearClosingOfAll({ hooks, awake, outsideTurn }: CloseParts): Promise<void> {
  if (!(await hooks.hears("session.closed"))) return;
  await Promise.all((await awake.all()).map((session) => hearClosing(outsideTurn(session), "daemon ended")));
}

/** Resolves when every listener has heard how its session's last turn ended. */
async function everyoneTold({ awake, closing }: CloseParts): Promise<void> {
  for (const { writer, listeners } of await awake.all()) {
    const { seq } = writer.state();
    for (const box of listeners.keys()) {
      while (listeners.has(box) && box.taken() < seq && !closing.signal.aborted) await pause(TELL_POLL_MS);
    }
  }
}

function within(limitMs: number, work: Promise<unknown>): Promise<unknown> {
  return Promise.race([work, pause(limitMs, undefined, { ref: false })]);
}
