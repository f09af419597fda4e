import type { FailureCode, Result } from "../../core/domain/failure.ts";
import { fail, ok } from "../../core/domain/failure.ts";
import type { Exit, Launcher, LaunchSpec, LeasedProcess } from "../os/launcher.ts";
import { encodeFrame, FRAME_LIMIT_BYTES, frameDecoder } from "./frame.ts";
import { type FromHost, type GuestEnd, type GuestLimits, readFromHost, type ToHost } from "./host-protocol.ts";
import type { IsolateLimits } from "./limits.ts";

/** Absolute paths of what a hook host is made of. Each file must stand alone: the sandbox shows it nothing beside them. */
export type HostFiles = {
  readonly nodeBinary: string;
  readonly hostFile: string;
  readonly preludeFile: string;
  /** The isolated-vm addon that fits `nodeBinary`. */
  readonly addonFile: string;
};

/**
 * How a guest came to its end. `message` goes on after the guest's name: "used more than …". `shared` when something else
 * may have been to blame for it.
 */
export type GuestDeath = { readonly code: FailureCode; readonly message: string; readonly shared: boolean };

export type GuestEars = {
  said(text: string): void;
  /** Nothing runs and no timer is set in the guest, after it heard so many texts. */
  idle(heard: number): void;
  fault(text: string): void;
  /** Exactly once, the last that is heard. */
  ended(death: GuestDeath): void;
  /** How many answers it owes. */
  owes(): number;
};

export type Guest = {
  /** False when the text is larger than a frame may be; it was not sent. `limitMs` 0 means the guest's own slice. */
  tell(text: string, limitMs: number): boolean;
  close(): void;
};

/** One leased process with isolates in it. Everything it says is taken as said by an enemy. */
export type HostProcess = {
  /** Why it is dead; undefined while it lives. */
  readonly death: Omit<GuestDeath, "shared"> | undefined;
  /** How many guests it has had. */
  readonly opened: number;
  /** Settles when the host is up, or false when it will never be. */
  readonly ready: Promise<boolean>;
  /** The process is gone. */
  readonly gone: Promise<void>;
  openGuest(limits: GuestLimits, ears: GuestEars): Guest;
  /** Stops or goes on reading; a host that is not read blocks its guests. */
  pause(paused: boolean): void;
  kill(): void;
};

/** Address space of a host, MiB: without a JIT an isolate takes few, so this caps what a guest can allocate. */
const ADDRESS_SPACE_MIB = 1600;
const OPEN_FILES_MAX = 64;
/** From asking a guest to close until its process is killed, milliseconds. */
const CLOSE_MS = 1500;
/** What may wait unread by a host, bytes. */
const UNREAD_LIMIT_BYTES = 16 * 1024 * 1024;
const STDERR_KEPT_CHARS = 2000;

const END_TEXT: Record<GuestEnd, (limits: GuestLimits) => { code: FailureCode; message: string }> = {
  slice: (limits) => ({ code: "timed_out", message: `ran for ${limits.sliceMs} ms without a pause` }),
  memory: (limits) => ({ code: "exhausted", message: `used more than its ${limits.memoryMib} MiB of memory` }),
  size: () => ({ code: "exhausted", message: `sent more than ${FRAME_LIMIT_BYTES / 1024 / 1024} MiB at once` }),
  error: () => ({ code: "unavailable", message: "got no isolate to run in" }),
  closed: () => ({ code: "cancelled", message: "was closed" }),
};

function launchSpec(files: HostFiles, level: Launcher["level"]): LaunchSpec {
  const own = [files.hostFile, files.preludeFile, files.addonFile];
  // Where no OS sandbox stands, Node's permission model is the second wall: no files, no children, no workers.
  const fence =
    level === "none" ? ["--permission", "--allow-addons", ...own.map((file) => `--allow-fs-read=${file}`)] : [];
  const flags = ["--jitless", "--no-node-snapshot", "--no-warnings", ...fence];
  return {
    command: [files.nodeBinary, ...flags, files.hostFile, files.addonFile, files.preludeFile],
    // The one folder that every sandbox has; nothing is read from it, and the limit of zero keeps it empty.
    cwd: "/tmp",
    env: { MALLOC_ARENA_MAX: "2" },
    confinement: { read: [files.nodeBinary, ...own], write: [], network: false, system: "libraries" },
    limits: { addressSpaceMib: ADDRESS_SPACE_MIB, openFiles: OPEN_FILES_MAX, fileMib: 0 },
    pipes: 1,
  };
}

function exitText(exit: Exit): string {
  return exit.signal ?? `exit code ${exit.code}`;
}

type OpenGuest = { readonly limits: GuestLimits; readonly ears: GuestEars; closing: NodeJS.Timeout | undefined };

/** Launches a host. It is told at once; what it is told waits in the pipe until it is up. */
export function startHost(launcher: Launcher, files: HostFiles, limits: IsolateLimits): Result<HostProcess> {
  let child: LeasedProcess;
  try {
    child = launcher.launch(launchSpec(files, launcher.level));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return fail("unavailable", `got no process: ${why}`, { cause, hint: "claw doctor shows what is missing" });
  }
  const pipe = child.pipes[0];
  if (!pipe) throw new Error("the launcher opened no pipe");

  const guests = new Map<number, OpenGuest>();
  const up = Promise.withResolvers<boolean>();
  let opened = 0;
  let death: Omit<GuestDeath, "shared"> | undefined;
  let complaints = "";

  /** The first reason counts; the exit that follows is only its consequence. `culprit` is the guest that is to blame. */
  function die(code: FailureCode, message: string, culprit?: number): void {
    if (death) return;
    death = { code, message };
    clearTimeout(starting);
    child.kill();
    pipe?.destroy();
    up.resolve(false);
    const dying = [...guests];
    guests.clear();
    const owed = dying.reduce((sum, [, guest]) => sum + guest.ears.owes(), 0);
    for (const [id, guest] of dying) {
      clearTimeout(guest.closing);
      guest.ears.ended({ code, message, shared: culprit === undefined ? owed > 1 : culprit !== id });
    }
  }

  function write(order: ToHost): boolean {
    const frame = encodeFrame(order, FRAME_LIMIT_BYTES);
    if (!frame) return false;
    if (death || !pipe) return true;
    pipe.write(frame);
    if (pipe.writableLength > UNREAD_LIMIT_BYTES) die("exhausted", "did not read what it was told");
    return true;
  }

  function hear(news: FromHost): void {
    if (news.did === "ready") {
      clearTimeout(starting);
      up.resolve(true);
      return;
    }
    // Also of a guest that is closed already: its last slice still runs, and keeps others from running.
    if (news.did === "stuck") {
      die("timed_out", "did not stop when its time or memory was up, and its process was killed", news.guest);
      return;
    }
    const guest = guests.get(news.guest);
    if (!guest) return;
    switch (news.did) {
      case "said":
        guest.ears.said(news.text);
        return;
      case "idle":
        guest.ears.idle(news.heard);
        return;
      case "fault":
        guest.ears.fault(news.text);
        return;
      case "ended":
        guests.delete(news.guest);
        clearTimeout(guest.closing);
        guest.ears.ended({ ...END_TEXT[news.why](guest.limits), shared: guest.ears.owes() > 1 });
    }
  }

  const starting = setTimeout(() => die("timed_out", `was not up within ${limits.startMs} ms`), limits.startMs);
  const decoder = frameDecoder(
    FRAME_LIMIT_BYTES,
    (message) => {
      if (death) return;
      const news = readFromHost(message);
      if (news) hear(news);
      else die("invalid", "has a host that broke the protocol, and was killed");
    },
    (why) => die("invalid", `has a host that sent ${why}, and was killed`),
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
    if (memory) die("exhausted", `ran out of memory and its process died (${exitText(exit)})`);
    else die("unavailable", `lost its process (${exitText(exit)})`);
  });

  return ok({
    get death() {
      return death;
    },
    get opened() {
      return opened;
    },
    ready: up.promise,
    gone,
    openGuest(guestLimits, ears) {
      opened += 1;
      const id = opened;
      const guest: OpenGuest = { limits: guestLimits, ears, closing: undefined };
      if (death) {
        ears.ended({ ...death, shared: false });
        return { tell: () => true, close: () => {} };
      }
      guests.set(id, guest);
      write({ do: "open", guest: id, limits: guestLimits });
      return {
        tell: (text, limitMs) => write({ do: "tell", guest: id, text, limitMs }),
        close() {
          if (!guests.has(id) || guest.closing) return;
          guest.closing = setTimeout(() => die("timed_out", "did not close, and its process was killed", id), CLOSE_MS);
          write({ do: "close", guest: id });
        },
      };
    },
    pause(paused) {
      if (paused) pipe.pause();
      else pipe.resume();
    },
    kill: () => die("cancelled", "was stopped"),
  });
}
