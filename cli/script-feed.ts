import { once } from "node:events";
import { type ScriptInputWanted, ScriptService, type ScriptSignals } from "../proto/gen/clawd/v1/admin_pb.ts";
import type { Context } from "./command.ts";
import type { Connection } from "./connection.ts";

/** What a running script is given from this program's own input and signals. */
export type ScriptFeed = {
  wanted(wish: ScriptInputWanted): void;
  listening(signals: ScriptSignals): void;
  close(): void;
};

/** A script that hears Ctrl-C is ended by so many of them. */
const PRESSES_MAX = 3;

/** @param interrupt ends the script */
export function openScriptFeed(context: Context, daemon: Connection, interrupt: () => void): ScriptFeed {
  const closing = new AbortController();
  let heard: ScriptSignals | undefined;
  let presses = 0;
  let stopHearingEnd = () => {};
  let isReading = false;

  async function tell(
    runId: string,
    more: { data?: Uint8Array<ArrayBuffer>; end?: boolean; signal?: string },
  ): Promise<void> {
    const told = await daemon.call(ScriptService.method.feedScript, { runId, ...more });
    if (!told.ok && !closing.signal.aborted) context.screen.note(`  ${told.trouble.message}`);
  }

  /** A signal that the script does not hear ends it. */
  function pass(signal: "SIGINT" | "SIGTERM"): void {
    presses += 1;
    if (heard?.names.includes(signal) !== true || presses >= PRESSES_MAX) interrupt();
    else void tell(heard.runId, { signal });
  }

  async function give({ runId, limitBytes }: ScriptInputWanted): Promise<void> {
    isReading = true;
    const piece = await nextPiece(context.stdin, limitBytes, closing.signal);
    if (closing.signal.aborted) return;
    await tell(runId, piece === null ? { end: true } : { data: new Uint8Array(piece) });
  }

  const stopHearing = context.onInterrupt(() => pass("SIGINT"));
  return {
    wanted: (wish) => void give(wish),
    listening(signals) {
      heard = signals;
      stopHearingEnd();
      stopHearingEnd = signals.names.includes("SIGTERM") ? context.onTerminate(() => pass("SIGTERM")) : () => {};
    },
    close() {
      closing.abort();
      stopHearing();
      stopHearingEnd();
      // What is not read any more must not keep this program from its end.
      if (isReading) context.stdin.pause().unref?.();
    },
  };
}

/** The next piece of a stream; null at its end, or when the signal comes. */
async function nextPiece(stdin: NodeJS.ReadStream, limitBytes: number, signal: AbortSignal): Promise<Buffer | null> {
  while (!stdin.readableEnded && !stdin.destroyed && !signal.aborted) {
    const length = Math.min(stdin.readableLength, limitBytes);
    const piece: unknown = length === 0 ? stdin.read() : stdin.read(length);
    if (typeof piece === "string") return Buffer.from(piece);
    if (piece instanceof Buffer) return piece;
    const stop = new AbortController();
    const until = AbortSignal.any([stop.signal, signal]);
    try {
      await Promise.race(["readable", "end", "close"].map((event) => once(stdin, event, { signal: until })));
    } catch {
      // It is over, or it cannot be read any further: both are its end.
      return null;
    } finally {
      stop.abort();
    }
  }
  return null;
}
