import { once } from "node:events";
import type { Readable } from "node:stream";
import type { LeasedProcess } from "../os/launcher.ts";
import type { Held } from "./handle-table.ts";
import { done, type Outcome, refuse } from "./outcome.ts";

/** Child processes that one guest holds. */
export const CHILDREN_MAX = 16;

/** A running command of a guest's, whose pipes are read and written while it runs. */
export type GuestChild = Held & {
  /** What came since the last read; null at the end. One reads each at a time. */
  read(from: "stdout" | "stderr"): Promise<Buffer | null>;
  /** Nobody reads it any more. */
  drop(from: "stdout" | "stderr"): void;
  /** Resolves when the pipe has taken it; null ends the input. */
  write(data: Buffer | null): Promise<Outcome<null>>;
  /** Its end; refused when it had to be ended because it took too long. */
  wait(): Promise<Outcome<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>>;
  kill(): void;
};

/** Most bytes of one read. */
const PIECE_BYTES = 256 * 1024;
/** What left an unconfined tree may keep the pipes open after the command's end, milliseconds. */
const DRAIN_LIMIT_MS = 1_000;

/** @param named what the guest calls it */
export function guestChild(child: LeasedProcess, named: string, timeoutMs: number): GuestChild {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill();
  }, timeoutMs);
  // A command need not read what it is given.
  child.stdin.on("error", () => child.stdin.destroy());
  const streams = { stdout: child.stdout, stderr: child.stderr };
  for (const stream of Object.values(streams)) {
    stream.on("error", () => stream.destroy());
    // Of a stream that nobody listens to, Node throws away what is left when the child ends.
    stream.on("readable", () => {});
  }
  const ended = child.exited.then((exit) => {
    clearTimeout(timer);
    setTimeout(() => {
      for (const stream of Object.values(streams)) if (!stream.readableEnded && isStuck(stream)) stream.destroy();
    }, DRAIN_LIMIT_MS).unref();
    return exit;
  });

  return {
    async read(from) {
      const stream = streams[from];
      for (;;) {
        const piece = readPiece(stream);
        if (piece !== null) return piece;
        if (stream.readableEnded || stream.destroyed) return null;
        await nextNews(stream);
      }
    },
    drop: (from) => void streams[from].destroy(),
    async write(data) {
      const { stdin } = child;
      if (data === null) {
        stdin.end();
        return done(null);
      }
      const broken = refuse("BrokenPipe", "Broken pipe (os error 32)");
      if (stdin.destroyed || stdin.writableEnded) return broken;
      const taken = await new Promise<boolean>((resolve) => {
        stdin.write(data, (error) => resolve(!error));
      });
      return taken ? done(null) : broken;
    },
    async wait() {
      const exit = await ended;
      return isLate
        ? refuse("TimedOut", `'${named}' did not end within ${timeoutMs / 1000} s and was killed`)
        : done(exit);
    },
    kill: () => child.kill(),
    async close() {
      child.kill();
      child.stdin.destroy();
      for (const stream of Object.values(streams)) stream.destroy();
      await ended;
    },
  };
}

/** Nothing is left in it, and its other end is open still. */
function isStuck(stream: Readable): boolean {
  return stream.readableLength === 0;
}

function readPiece(stream: Readable): Buffer | null {
  if (stream.readableLength === 0) return stream.read() as Buffer | null;
  return stream.read(Math.min(stream.readableLength, PIECE_BYTES)) as Buffer | null;
}

async function nextNews(stream: Readable): Promise<void> {
  const stop = new AbortController();
  const events = ["readable", "end", "close"] as const;
  try {
    await Promise.race(events.map((event) => once(stream, event, { signal: stop.signal })));
  } catch {
    // A pipe that broke is closed next, and that is seen by who reads.
  } finally {
    stop.abort();
  }
}
