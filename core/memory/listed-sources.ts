import { existsSync } from "node:fs";
import { type Failed, type Failure, fail, ok, type Result } from "../domain/failure.ts";
import { CONVERSATIONS } from "./source/conversations.ts";
import { storeFile } from "./store/open-store.ts";
import { EMPTY_LIST, listOfSources, openSourceList, type SourceList } from "./store/source-list.ts";
import type { OpenStore } from "./store/store-holder.ts";

/** What is indexed, whatever becomes of the file that says so. */
export type ListedSources = {
  /** A list that was lost is read off the store, which is opened for it. Costs nothing once it is known. */
  all(): Promise<SourceList>;
  /** The same for whoever may change it: fails where it cannot be read off the store now, so that no empty one takes its place. */
  toChange(): Promise<Result<SourceList>>;
  /** The same for whoever fills a store that is empty: there is nothing to read it off. */
  toFill(): Promise<SourceList>;
  /** Durable on return. Calls do not overlap. */
  change(by: (list: SourceList) => SourceList): Promise<Result<void>>;
  /** Why it may name less than it should. */
  trouble(): Failure | undefined;
};

export type ListedSourcesOptions = {
  /** Memory's folder. */
  readonly dir: string;
  readonly use: <T>(work: (open: OpenStore) => Promise<Result<T>>) => Promise<Result<T>>;
  readonly changed: () => void;
};

export function openListedSources({ dir, use, changed }: ListedSourcesOptions): ListedSources {
  const file = openSourceList(dir);
  let mending: Promise<Result<void>> | undefined;
  let trouble: Failure | undefined;

  async function toChange(): Promise<Result<SourceList>> {
    const list = await file.read();
    if (typeof list === "object") return ok(list);
    if (list === "missing" && !existsSync(storeFile(dir))) return ok(EMPTY_LIST);
    mending ??= mend().finally(() => {
      mending = undefined;
    });
    const mended = await mending;
    return mended.ok ? ok(await known()) : mended;
  }

  async function mend(): Promise<Result<void>> {
    if (!existsSync(storeFile(dir))) {
      await giveUp();
      return ok(undefined);
    }
    const names = await use(({ store }) => store.sources());
    if (!names.ok) {
      trouble = lost(`what is indexed cannot be read off the store: ${names.failure.message}`).failure;
      return names;
    }
    // The store may have turned out to be none, and was filled from nothing.
    if (typeof (await file.read()) === "object") return ok(undefined);
    const list = listOfSources(names.value, CONVERSATIONS);
    await file.assume(list);
    trouble = undefined;
    // Tried again with the next run, when it cannot be written now.
    await file.write(list);
    return ok(undefined);
  }

  async function giveUp(): Promise<void> {
    if ((await file.read()) === "damaged") trouble = lost("nothing tells what was indexed").failure;
    await file.assume(EMPTY_LIST);
  }

  async function known(): Promise<SourceList> {
    const list = await file.read();
    return typeof list === "object" ? list : EMPTY_LIST;
  }

  return {
    async all() {
      const list = await toChange();
      return list.ok ? list.value : EMPTY_LIST;
    },
    toChange,
    async toFill() {
      if (typeof (await file.read()) !== "object") await giveUp();
      return known();
    },
    async change(by) {
      const list = await known();
      const next = by(list);
      if (next === list && file.isOnDisk()) return ok(undefined);
      const written = await file.write(next);
      if (!written.ok) return written;
      trouble = undefined;
      if (next !== list) changed();
      return ok(undefined);
    },
    trouble: () => trouble,
  };
}

function lost(why: string): Failed {
  return fail("corrupt", `the list of what memory indexes was damaged, and ${why}`, {
    hint: "index the folders again; sources.json.aside in memory's folder is what was left of it",
  });
}
