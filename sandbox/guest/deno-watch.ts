/** `Deno.watchFs`. Part of a library; runs inside the isolate. */

import type { LibraryParts } from "./deno-library.ts";
import type { Handle, WatchedChange } from "./guest-protocol.ts";

type FsEvent = { readonly kind: WatchedChange["kind"]; readonly paths: readonly string[]; readonly flag: null };

export function fileWatcher({ call, hold, pathText }: LibraryParts) {
  /** It begins to watch at once; what forbids that is heard by the first who asks for an event. */
  class FsWatcher implements AsyncIterableIterator<FsEvent> {
    readonly #handle: Promise<Handle>;
    #isClosed = false;

    constructor(paths: readonly string[], recursive: boolean) {
      this.#handle = call("watchStart", { paths, recursive });
      this.#handle.catch(() => {});
      hold(1);
    }
    async next(): Promise<IteratorResult<FsEvent, undefined>> {
      const handle = await this.#handle;
      if (this.#isClosed) return { done: true, value: undefined };
      const change = await call("watchNext", { handle });
      return change === null || this.#isClosed
        ? { done: true, value: undefined }
        : { done: false, value: { kind: change.kind, paths: change.paths, flag: null } };
    }
    async return(): Promise<IteratorResult<FsEvent, undefined>> {
      this[Symbol.dispose]();
      return { done: true, value: undefined };
    }
    close(): void {
      if (this.#isClosed) return;
      this.#isClosed = true;
      hold(-1);
      void this.#handle.then((handle) => call("closeHandle", { handle })).catch(() => {});
    }
    [Symbol.dispose](): void {
      this.close();
    }
    [Symbol.asyncIterator](): this {
      return this;
    }
  }

  return (paths: unknown, options?: { readonly recursive?: boolean }): FsWatcher => {
    const named = Array.isArray(paths) ? paths : [paths];
    return new FsWatcher(named.map(pathText), options?.recursive !== false);
  };
}
