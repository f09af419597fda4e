import { type FailureCode, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Exit, Launcher, LeasedProcess } from "../os/launcher.ts";
import { encodeFrame, FRAME_LIMIT_BYTES, frameDecoder } from "./frame.ts";
import { type HostFiles, type HostShape, hostLaunch } from "./host-launch.ts";
import { type FromHost, type GuestLimits, orderFrame, readNews, type ToHost } from "./host-protocol.ts";
import { END_TEXT, type Guest, type GuestEars } from "./hosted-guest.ts";

/** One leased process with isolates in it. Everything it says is taken as said by an enemy. */
export type HostProcess = {
  /** The head of its tree. */
  readonly pid: number;
  /** Why it is dead; undefined while it lives. */
  readonly death: { readonly code: FailureCode; readonly message: string } | undefined;
  /** How many guests it has had. */
  readonly opened: number;
  /** How often guests were asked something. */
  readonly asks: number;
  /** Whether any guest owes an answer. */
  readonly working: boolean;
  /** Settles when the host is up, or false when it will never be. */
  readonly ready: Promise<boolean>;
  /** The process is gone. */
  readonly gone: Promise<void>;
  openGuest(limits: GuestLimits, ears: GuestEars): Guest;
  /** Bytes that were told and are not read yet. */
  readonly unreadBytes: number;
  /** Settles when it has read what it was told, or is dead. */
  drained(): Promise<void>;
  /** Stops or goes on reading; a host that is not read blocks its guests. */
  pause(paused: boolean): void;
  /** Ends it because of something that one of its guests did; which one may show. */
  condemn(code: FailureCode, message: string): void;
  /** Ends it, and nobody is to blame. */
  kill(): void;
};

/** From asking a guest to close until its process is killed, milliseconds. */
const CLOSE_MS = 1500;
/** What may wait unread by a host, bytes. */
const UNREAD_LIMIT_BYTES = 64 * 1024 * 1024;
const STDERR_KEPT_CHARS = 2000;

const STUCK_TEXT = "did not stop when its time or memory was up, and its process was killed";

function exitText(exit: Exit): string {
  return exit.signal ?? `exit code ${exit.code}`;
}

type OpenGuest = {
  readonly limits: GuestLimits;
  readonly ears: GuestEars;
  closing: NodeJS.Timeout | undefined;
  /** How many texts it was told. */
  told: number;
  /** Nothing of it runs, and nothing is left to wake it. */
  quiet: boolean;
};

/** Launches a host. It is told at once; what it is told waits in the pipe until it is up. `startMs` until it must be. */
export function startHost(
  launcher: Launcher,
  files: HostFiles,
  shape: HostShape,
  startMs: number,
): Result<HostProcess> {
  let child: LeasedProcess;
  try {
    child = launcher.launch(hostLaunch(files, shape, launcher.level));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return fail("unavailable", `got no process: ${why}`, { cause, hint: "claw doctor shows what is missing" });
  }
  const pipe = child.pipes[0];
  if (!pipe) throw new Error("the launcher opened no pipe");

  const guests = new Map<number, OpenGuest>();
  const up = Promise.withResolvers<boolean>();
  let opened = 0;
  let asks = 0;
  let death: HostProcess["death"];
  let complaints = "";

  /** Who may be to blame: whoever was not at rest. */
  function suspectsOf(dying: readonly (readonly [number, OpenGuest])[]): ReadonlySet<number> {
    return new Set(dying.filter(([, guest]) => !guest.quiet || guest.ears.owes()).map(([id]) => id));
  }

  /** The first reason counts; the exit that follows is only its consequence. */
  function die(code: FailureCode, message: string, blame: "nobody" | "suspects" | number): void {
    if (death) return;
    death = { code, message };
    clearTimeout(starting);
    child.kill();
    pipe?.destroy();
    up.resolve(false);
    const dying = [...guests];
    guests.clear();
    const suspects = blame === "suspects" ? suspectsOf(dying) : new Set(blame === "nobody" ? [] : [blame]);
    for (const [id, guest] of dying) {
      clearTimeout(guest.closing);
      const suspected = suspects.has(id);
      const killed = suspected && suspects.size === 1;
      const again = killed || blame === "nobody" ? "no" : suspected ? "alone" : "beside";
      guest.ears.ended({ code, message, killed, again });
    }
  }

  function write(order: ToHost): boolean {
    const frame = encodeFrame(orderFrame(order), FRAME_LIMIT_BYTES);
    if (!frame) return false;
    if (death || !pipe) return true;
    pipe.write(frame);
    if (pipe.writableLength > UNREAD_LIMIT_BYTES) die("exhausted", "did not read what it was told", "suspects");
    return true;
  }

  function hearOf(id: number, guest: OpenGuest, news: Exclude<FromHost, { did: "ready" | "stuck" }>): void {
    switch (news.did) {
      case "said":
        guest.ears.said(news.text);
        return;
      case "idle":
        if (news.heard !== guest.told) return;
        guest.quiet = true;
        guest.ears.idle();
        return;
      case "fault":
        guest.ears.fault(news.text);
        return;
      case "waits":
        guest.ears.queued(true);
        return;
      case "turn":
        guest.ears.queued(false);
        return;
      case "ended":
        guests.delete(id);
        clearTimeout(guest.closing);
        guest.ears.ended({ ...END_TEXT[news.why](guest.limits), killed: false, again: "no" });
    }
  }

  function hear(news: FromHost): void {
    if (news.did === "ready") {
      clearTimeout(starting);
      up.resolve(true);
      return;
    }
    // Also of a guest that is closed already: its last slice still runs, and keeps others from running.
    if (news.did === "stuck") {
      die("timed_out", STUCK_TEXT, news.guest);
      return;
    }
    const guest = guests.get(news.guest);
    if (guest) hearOf(news.guest, guest, news);
  }

  const starting = setTimeout(() => die("timed_out", `was not up within ${startMs} ms`, "nobody"), startMs);
  const decoder = frameDecoder(
    FRAME_LIMIT_BYTES,
    (frame) => {
      if (death) return;
      const news = readNews(frame);
      if (news) hear(news);
      else die("invalid", "has a host that broke the protocol, and was killed", "suspects");
    },
    (why) => die("invalid", `has a host that sent ${why}, and was killed`, "suspects"),
  );
  pipe.on("data", (bytes: Uint8Array) => decoder.push(bytes));
  // Its end is heard as the exit of the process, which says why.
  pipe.on("error", () => {});
  child.stdin.on("error", () => {});
  child.stdout.resume();
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-STDERR_KEPT_CHARS);
  });
  const gone = child.exited.then((exit) => {
    const memory = /heap out of memory|bad_alloc|Fatal process out of memory/i.test(complaints);
    if (memory) die("exhausted", `ran out of memory and its process died (${exitText(exit)})`, "suspects");
    else die("unavailable", `lost its process (${exitText(exit)})`, "suspects");
  });

  function sendText(id: number, guest: OpenGuest, order: ToHost): boolean {
    if (!guests.has(id) || guest.closing) return true;
    const sent = write(order);
    if (sent) {
      if (order.do === "ask" || order.do === "askLoaded") asks += 1;
      guest.told += 1;
      guest.quiet = false;
    }
    return sent;
  }

  const host: HostProcess = {
    pid: child.pid,
    get death() {
      return death;
    },
    get opened() {
      return opened;
    },
    get asks() {
      return asks;
    },
    get working() {
      for (const guest of guests.values()) if (guest.ears.owes()) return true;
      return false;
    },
    ready: up.promise,
    gone,
    openGuest(limits, ears) {
      opened += 1;
      const id = opened;
      const guest: OpenGuest = { limits, ears, closing: undefined, told: 0, quiet: true };
      if (death) {
        ears.ended({ ...death, killed: false, again: "beside" });
        return { tell: () => true, answer: () => true, ask: () => true, askLoaded: () => true, close: () => {} };
      }
      guests.set(id, guest);
      write({ do: "open", guest: id, limits });
      return {
        tell: (text) => sendText(id, guest, { do: "tell", guest: id, text, limitMs: 0 }),
        answer: (text) => sendText(id, guest, { do: "answer", guest: id, text }),
        ask: (text, limitMs) => sendText(id, guest, { do: "ask", guest: id, text, limitMs }),
        askLoaded: (text) => sendText(id, guest, { do: "askLoaded", guest: id, text, limitMs: 0 }),
        close() {
          if (!guests.has(id) || guest.closing) return;
          guest.closing = setTimeout(() => die("timed_out", "did not close, and its process was killed", id), CLOSE_MS);
          write({ do: "close", guest: id });
        },
      };
    },
    get unreadBytes() {
      return pipe.writableLength;
    },
    async drained() {
      if (death || pipe.writableLength === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      pipe.once("drain", resolve).once("close", resolve);
      await promise;
      pipe.off("drain", resolve).off("close", resolve);
    },
    pause(paused) {
      if (paused) pipe.pause();
      else pipe.resume();
    },
    condemn: (code, message) => die(code, message, "suspects"),
    kill: () => die("cancelled", "was stopped", "nobody"),
  };
  return ok(host);
}
