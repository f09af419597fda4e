import type { Handle } from "../guest/guest-protocol.ts";
import { done, type Outcome, refuse } from "./outcome.ts";

/** Something that stays open between calls, and ends with its guest at the latest. */
export type Held = { close(): Promise<void> };

/** What one guest holds open of one kind. Its numbers are no file descriptors and mean nothing to anybody else. */
export type HandleTable<T extends Held> = {
  /** Refuses, and closes it, when the guest holds as many as it may. */
  add(item: T): Promise<Outcome<Handle>>;
  get(handle: Handle): Outcome<T>;
  /** Forgets and closes it. False when there is none of that number. */
  close(handle: Handle): Promise<boolean>;
  closeAll(): void;
};

/** Numbers for the handles of one guest, never the same twice. */
export function handleNumbers(): () => Handle {
  let last = 0;
  return () => {
    last += 1;
    return last;
  };
}

/** @param what one of them is called in a refusal: "open files" */
export function handleTable<T extends Held>(what: string, max: number, nextHandle: () => Handle): HandleTable<T> {
  const held = new Map<Handle, T>();
  let over = false;
  return {
    async add(item) {
      if (over || held.size >= max) {
        await item.close();
        return refuse("Busy", `${max} ${what} at once are the limit: close one first`);
      }
      const handle = nextHandle();
      held.set(handle, item);
      return done(handle);
    },
    get(handle) {
      const item = held.get(handle);
      return item === undefined ? refuse("BadResource", "Bad resource ID") : done(item);
    },
    async close(handle) {
      const item = held.get(handle);
      held.delete(handle);
      await item?.close();
      return item !== undefined;
    },
    closeAll() {
      over = true;
      // Nobody waits for it: the guest is gone.
      for (const item of held.values()) void item.close().catch(() => {});
      held.clear();
    },
  };
}
