import { constants as osConstants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { type Failure, fail } from "../../core/domain/failure.ts";
import type { GuestInput } from "../broker/guest-input.ts";
import type { Exit, LeasedProcess } from "../os/launcher.ts";
import type { PoliteSignal } from "../os/leased-spawn.ts";
import type { BrokerDoor } from "./broker-door.ts";
import type { DenoJudge } from "./deno-judge.ts";
import type { RunClock } from "./run-clock.ts";

/** What left an unconfined tree may keep the pipes open after its end. */
const DRAIN_LIMIT_MS = 1_000;
/** Most bytes that are asked for at once for its standard input. */
const INPUT_PIECE_BYTES = 64 * 1024;
/** Between the word to end and the end. */
const GRACE_MS = 1_000;
/** The code that Deno ends with when its broker is not there, or answers amiss. */
const BROKER_LOST_CODE = 87;
/** Shells end so what a signal killed. */
const SIGNAL_CODE_BASE = 128;
/** What every Deno with a broker says first. */
const BROKER_NOTICE = "Warning Permission broker is an experimental feature\n";

/** One program of Deno's under way. */
export type DenoRun = {
  /** The exit code, as a shell has it; by then all that it printed was passed on. */
  readonly ended: Promise<number>;
  /** While paused it waits when it prints. */
  pause(paused: boolean): void;
  /** Tells it to end, kills it when it does not, and waits until all of it is gone. */
  kill(): Promise<void>;
  /** As it would hear it in a terminal: who does not listen to it is ended by it. */
  signal(name: PoliteSignal): void;
};

export type Watched = {
  readonly print: (to: "stdout" | "stderr", text: string) => void;
  readonly timeLimitMs: number;
  readonly judge: Pick<DenoJudge, "close">;
  readonly door: BrokerDoor;
  readonly clock: RunClock;
  readonly input: Pick<GuestInput, "read"> | undefined;
};

/** Passes on what a started Deno prints, and closes what it needed when it has ended. */
export function watchDeno(child: LeasedProcess, { print, timeLimitMs, judge, door, clock, input }: Watched): DenoRun {
  const streams = [child.stdout, child.stderr];
  let isPaused = false;
  let isGone = false;
  let drain: NodeJS.Timeout | undefined;
  const feeding = new AbortController();
  void feed(child.stdin, input, feeding);
  const passed = [
    passOn(child.stdout, (text) => print("stdout", text)),
    passOn(
      child.stderr,
      withoutNotice((text) => print("stderr", text)),
    ),
  ];

  function endStreams(): void {
    for (const stream of streams) stream.destroy();
  }

  /** What is in the pipes is not lost while the reader has no room for it. */
  function limitDrain(): void {
    clearTimeout(drain);
    if (isGone && !isPaused) drain = setTimeout(endStreams, DRAIN_LIMIT_MS);
  }

  async function end(): Promise<number> {
    const exit = await child.exited;
    isGone = true;
    feeding.abort();
    limitDrain();
    await Promise.all(passed);
    clearTimeout(drain);
    clock.stop();
    judge.close();
    await door.close();
    const why = whyEnded(exit, clock.isOver ? timeLimitMs : undefined, door.fault);
    if (why) print("stderr", `error: ${why.message}\n${why.hint === undefined ? "" : `${why.hint}\n`}`);
    return codeOf(exit);
  }

  const ended = end();
  return {
    ended,
    pause(paused) {
      isPaused = paused;
      for (const stream of streams) {
        if (paused) stream.pause();
        else stream.resume();
      }
      limitDrain();
    },
    async kill() {
      child.terminate();
      const timer = setTimeout(child.kill, GRACE_MS);
      await child.exited;
      clearTimeout(timer);
      endStreams();
      await ended;
    },
    signal(name) {
      if (name === "SIGINT") child.interrupt();
      else child.terminate();
    },
  };
}

/** Gives a program what there is to read, as fast as it takes it; without an input it reads the end. Always resolves. */
async function feed(stdin: Writable, input: Watched["input"], feeding: AbortController): Promise<void> {
  // It need not read what it is given.
  stdin.once("error", () => stdin.destroy()).once("close", () => feeding.abort());
  for (;;) {
    const piece = (await input?.read(INPUT_PIECE_BYTES, feeding.signal)) ?? null;
    if (piece === null || !stdin.writable) break;
    const isTaken = await new Promise<boolean>((resolve) => {
      stdin.write(piece, (error) => resolve(!error));
    });
    if (!isTaken) break;
  }
  stdin.end();
}

function passOn(stream: Readable, pass: (text: string) => void): Promise<void> {
  stream.setEncoding("utf8").on("data", pass);
  return new Promise((resolve) => {
    stream.once("close", resolve);
    stream.on("error", () => stream.destroy()); // a pipe that broke has nothing more to say
  });
}

/** It is Deno's word to whoever starts it, which here is the daemon; it comes first, in a write of its own. */
function withoutNotice(pass: (text: string) => void): (text: string) => void {
  let isFirst = true;
  return (text) => {
    const rest = isFirst && text.startsWith(BROKER_NOTICE) ? text.slice(BROKER_NOTICE.length) : text;
    isFirst = false;
    if (rest !== "") pass(rest);
  };
}

/** Undefined for an end that speaks for itself. */
function whyEnded(exit: Exit, timeLimitMs: number | undefined, fault: string | undefined): Failure | undefined {
  if (timeLimitMs !== undefined) return fail("timed_out", `the program took longer than ${timeLimitMs} ms`).failure;
  if (exit.code === BROKER_LOST_CODE) {
    const because = fault ?? "so does Deno when it cannot reach its broker of permissions";
    const message = `the program ended with code ${BROKER_LOST_CODE}: ${because}`;
    return fail("unavailable", message, { hint: "where the broker fails, nothing is allowed" }).failure;
  }
  if (codeOf(exit) === SIGNAL_CODE_BASE + osConstants.signals.SIGKILL) {
    return fail("exhausted", "the program was killed, as the system does where memory is out").failure;
  }
  return undefined;
}

function codeOf({ code, signal }: Exit): number {
  return code ?? SIGNAL_CODE_BASE + (signal === null ? 0 : osConstants.signals[signal]);
}
