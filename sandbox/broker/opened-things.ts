import type { CallName } from "../guest/guest-protocol.ts";
import type { Handlers } from "./call-table.ts";
import { type CommandDesk, codeOf, startCommand } from "./command.ts";
import { WRITE_LIMIT_BYTES } from "./file-writing.ts";
import { WATCHERS_MAX, type Watcher, watchPaths } from "./folder-watch.ts";
import { CHILDREN_MAX, type GuestChild, guestChild } from "./guest-children.ts";
import type { GuestInput } from "./guest-input.ts";
import { type HandleTable, type Held, handleNumbers, handleTable } from "./handle-table.ts";
import { OPEN_FILES_MAX, type OpenFile, openGuestFile } from "./open-file.ts";
import { done, type Outcome, refuse } from "./outcome.ts";

type OpenedCalls = Extract<
  CallName,
  | "openFile"
  | "fileRead"
  | "fileWrite"
  | "fileSeek"
  | "fileTruncate"
  | "fileSync"
  | "fileStat"
  | "fileUtime"
  | "watchStart"
  | "watchNext"
  | "commandStart"
  | "commandRead"
  | "commandDrop"
  | "commandWrite"
  | "commandWait"
  | "commandKill"
  | "closeHandle"
  | "inputRead"
  | "listenSignal"
>;

/** What one guest holds open, and the calls that use it. */
export type OpenedThings = {
  handlers(desk: CommandDesk): Pick<Handlers, OpenedCalls>;
  /** Closes all of it. */
  close(): void;
};

/** Most bytes of what a script reads at once. */
const INPUT_PIECE_BYTES = 256 * 1024;

export function openedThings(input: GuestInput | undefined): OpenedThings {
  const nextHandle = handleNumbers();
  const files = handleTable<OpenFile>("open files", OPEN_FILES_MAX, nextHandle);
  const watchers = handleTable<Watcher>("watchers", WATCHERS_MAX, nextHandle);
  const children = handleTable<GuestChild>("child processes", CHILDREN_MAX, nextHandle);

  return {
    handlers: (desk) => ({
      openFile: async ({ path, options }) => keep(files, await openGuestFile(desk, path, options)),
      fileRead: async ({ handle, bytes }) => encoded(await using(files, handle, (file) => file.read(bytes))),
      fileWrite: async ({ handle, data }) =>
        using(files, handle, (file) => {
          const piece = Buffer.from(data, "base64");
          desk.effect();
          return piece.length > WRITE_LIMIT_BYTES
            ? refuse("RangeError", `one write has ${WRITE_LIMIT_BYTES} bytes at most`)
            : file.write(piece);
        }),
      fileSeek: ({ handle, offset, whence }) => using(files, handle, (file) => file.seek(offset, whence)),
      fileTruncate: ({ handle, length }) => using(files, handle, (file) => file.truncate(length)),
      fileSync: ({ handle }) => using(files, handle, (file) => file.sync()),
      fileStat: ({ handle }) => using(files, handle, (file) => file.stat()),
      fileUtime: ({ handle, atime, mtime }) => using(files, handle, (file) => file.utime(atime, mtime)),
      watchStart: async ({ paths, recursive }) => keep(watchers, await watchPaths(desk, paths, recursive)),
      watchNext: ({ handle }, signal) => using(watchers, handle, async (watcher) => done(await watcher.next(signal))),
      async commandStart(order, signal) {
        const started = await startCommand(desk, order, signal);
        if (!started.ok) return started;
        const child = guestChild(started.value, order.program, desk.timeoutMs);
        if (!order.stdin) await child.write(null);
        return keep(children, done(child));
      },
      commandRead: async ({ handle, from }) =>
        encoded(await using(children, handle, async (child) => done(await child.read(from)))),
      commandDrop: ({ handle, from }) =>
        using(children, handle, async (child) => {
          child.drop(from);
          return done(null);
        }),
      commandWrite: ({ handle, data }) =>
        using(children, handle, (child) => child.write(data === null ? null : Buffer.from(data, "base64"))),
      commandWait: ({ handle }) =>
        using(children, handle, async (child) => {
          const exit = await child.wait();
          return exit.ok ? done({ code: codeOf(exit.value), signal: exit.value.signal }) : exit;
        }),
      commandKill: ({ handle }) =>
        using(children, handle, async (child) => {
          child.kill();
          return done(null);
        }),
      async closeHandle({ handle }) {
        for (const table of [files, watchers, children]) if (await table.close(handle)) return done(null);
        return refuse("BadResource", "Bad resource ID");
      },
      async inputRead({ bytes }, signal) {
        const piece = await input?.read(Math.min(bytes, INPUT_PIECE_BYTES), signal);
        return done(piece ? Buffer.from(piece).toString("base64") : null);
      },
      async listenSignal({ signal, on }) {
        input?.listen(signal, on);
        return done(null);
      },
    }),
    close() {
      files.closeAll();
      watchers.closeAll();
      children.closeAll();
    },
  };
}

async function keep<T extends Held>(table: HandleTable<T>, opened: Outcome<T>): Promise<Outcome<number>> {
  return opened.ok ? table.add(opened.value) : opened;
}

async function using<T extends Held, R>(
  table: HandleTable<T>,
  handle: number,
  work: (item: T) => Outcome<R> | Promise<Outcome<R>>,
): Promise<Outcome<R>> {
  const item = table.get(handle);
  return item.ok ? work(item.value) : item;
}

function encoded(bytes: Outcome<Buffer | null>): Outcome<string | null> {
  if (!bytes.ok) return bytes;
  return done(bytes.value === null ? null : bytes.value.toString("base64"));
}
