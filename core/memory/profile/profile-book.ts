import { fail, ok, type Result } from "../../domain/failure.ts";
import type { Journal } from "../../domain/journal.ts";
import { type Ledger, openLedger } from "../../domain/ledger.ts";
import { type HeardMessage, type ProfileVersion, profileText, type UserProfile } from "../../domain/profile.ts";
import { applyProfile, emptyProfileFold, type ProfileFold, stampProfile } from "./profile-fold.ts";

/** The journal that the profile lives in; reserved, no session has this id. */
export const PROFILE_JOURNAL = "profile";

/** What there is to learn from at this moment. */
export type ProfileMoment = {
  readonly latest: ProfileVersion | undefined;
  readonly heard: number;
  readonly learned: number;
  /** Oldest first. */
  readonly waiting: readonly HeardMessage[];
  /** Grows with every deletion. */
  readonly removals: number;
};

/** The profile, a fold over its journal, which is read at the first use. What is answered is durable. */
export type ProfileBook = {
  moment(): Promise<Result<ProfileMoment>>;
  /** As the model gets to read it; empty for nothing. */
  text(): Promise<Result<string>>;
  history(limit: number): Promise<Result<readonly ProfileVersion[]>>;
  heard(message: HeardMessage): Promise<Result<void>>;
  /** What had been heard at that moment was considered; without a profile nothing came of it. `conflict` when it was removed since. */
  learned(
    moment: Pick<ProfileMoment, "heard" | "removals">,
    profile: UserProfile | undefined,
    model: string,
  ): Promise<Result<void>>;
  /** Takes the journal off the disk; resolves with how many versions there were. */
  remove(): Promise<Result<number>>;
};

export function openProfileBook(journal: Journal): ProfileBook {
  let ledger = open(journal);
  let removals = 0;
  /** Of the latest version, once it was looked at: a turn waits for no message that is being written. */
  let latestText: string | undefined;

  return {
    async moment() {
      const before = removals;
      const read = await ledger.read(momentOf);
      return read.ok ? ok({ ...read.value, removals: before }) : read;
    },
    async text() {
      if (latestText !== undefined) return ok(latestText);
      const from = ledger;
      const read = await from.read(({ versions }) => textOf(versions.at(-1)));
      if (read.ok && from === ledger) latestText = read.value;
      return read;
    },
    history: (limit) => ledger.read(({ versions }) => versions.slice(-limit).reverse()),
    heard: (message) => ledger.append({ case: "profileHeard", value: message }),
    async learned({ heard, removals: before }, profile, model) {
      const from = ledger;
      const written = await from.work<void>(() => {
        if (removals !== before) return fail("conflict", "the profile was deleted while it was learned");
        const value = { heard, model, ...(profile === undefined ? {} : { profile }) };
        return ok({ bodies: [{ case: "profileLearned", value }], value: undefined });
      });
      if (from === ledger) latestText = written.ok && profile !== undefined ? profileText(profile) : undefined;
      return written;
    },
    async remove() {
      // First, so that what is being learned at this moment is written nowhere.
      removals += 1;
      const versions = await ledger.read((fold) => fold.versions.length);
      // One that is broken may go, too: it is the way out of it.
      const removed = await journal.remove(PROFILE_JOURNAL);
      ledger = open(journal);
      // And once more for what was read meanwhile.
      removals += 1;
      latestText = undefined;
      if (!removed.ok && removed.failure.code !== "not_found") return removed;
      return ok(versions.ok ? versions.value : 0);
    },
  };
}

function open(journal: Journal): Ledger<ProfileFold> {
  const id = PROFILE_JOURNAL;
  return openLedger({ journal, id, begin: emptyProfileFold, apply: applyProfile, stamp: stampProfile });
}

function momentOf({ versions, heard, learned, waiting }: ProfileFold): Omit<ProfileMoment, "removals"> {
  return { latest: versions.at(-1), heard, learned, waiting: [...waiting] };
}

function textOf(version: ProfileVersion | undefined): string {
  return version === undefined ? "" : profileText(version.profile);
}
