import type { Event, EventBody } from "../../domain/event.ts";
import { type HeardMessage, type ProfileVersion, profileText } from "../../domain/profile.ts";

/** Messages that are remembered as not learned from; of more only their number. */
const WAITING_LIMIT = 200;
/** Versions that can be shown; older ones stay in the journal. */
const VERSIONS_LIMIT = 1_000;

/** What the journal of the profile says, folded. */
export type ProfileFold = {
  /** Newest last. */
  readonly versions: ProfileVersion[];
  /** Messages since the beginning, and how many of those, from the first on, were considered. */
  heard: number;
  learned: number;
  /** The newest of those that were not. */
  waiting: (HeardMessage & { readonly number: number })[];
};

export function emptyProfileFold(): ProfileFold {
  return { versions: [], heard: 0, learned: 0, waiting: [] };
}

/** Folds one fact. Total: what fits nothing changes nothing. A version has the time 0 until `stampProfile` has told it. */
export function applyProfile(fold: ProfileFold, body: EventBody): void {
  if (body.case === "profileHeard") {
    const { sessionId = "", seq = 0 } = body.value;
    fold.heard += 1;
    fold.waiting.push({ sessionId, seq, number: fold.heard });
    if (fold.waiting.length > WAITING_LIMIT) fold.waiting.shift();
  } else if (body.case === "profileLearned") {
    const { heard = 0, profile, model = "" } = body.value;
    fold.learned = Math.max(fold.learned, Math.min(heard, fold.heard));
    fold.waiting = fold.waiting.filter(({ number }) => number > fold.learned);
    if (profile !== undefined) addVersion(fold, profile, model);
  }
}

type Written = NonNullable<Extract<EventBody, { case: "profileLearned" }>["value"]["profile"]>;

function addVersion({ versions, learned }: ProfileFold, written: Written, model: string): void {
  const { who = "", style = "", focus = "", interests = "", misc = "" } = written;
  const profile = { who, style, focus, interests, misc };
  const number = (versions.at(-1)?.number ?? 0) + 1;
  versions.push({ number, profile, atMs: 0, messages: learned, chars: profileText(profile).length, model });
  if (versions.length > VERSIONS_LIMIT) versions.shift();
}

/** Tells a version the time that its event got when it became durable. */
export function stampProfile({ versions }: ProfileFold, { body, atMs }: Event): void {
  const last = versions.at(-1);
  if (body.case !== "profileLearned" || body.value.profile === undefined || last?.atMs !== 0) return;
  versions[versions.length - 1] = { ...last, atMs };
}
