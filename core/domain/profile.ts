import type { Result } from "./failure.ts";

/** What a profile tells of a person, each in a few words. */
export const PROFILE_KEYS = ["who", "style", "focus", "interests", "misc"] as const;
export type ProfileKey = (typeof PROFILE_KEYS)[number];
/** Empty strings for what is not known. */
export type UserProfile = Readonly<Record<ProfileKey, string>>;

export const EMPTY_PROFILE: UserProfile = { who: "", style: "", focus: "", interests: "", misc: "" };

export type ProfileVersion = {
  /** From 1. */
  readonly number: number;
  readonly profile: UserProfile;
  /** When it was learned, milliseconds since 1970. */
  readonly atMs: number;
  /** Messages of the person that were considered until then, since the profile began. */
  readonly messages: number;
  /** Length of `profileText`, UTF-16 code units. */
  readonly chars: number;
  /** "PROVIDER/NAME" of whoever put it into these words: other models read them. */
  readonly model: string;
};

/** The profile of this moment; no version while nothing was learned. */
export type ProfileStanding = {
  readonly enabled: boolean;
  readonly version: ProfileVersion | undefined;
  /** Messages that nothing was learned from yet. */
  readonly waiting: number;
};

/** What people may do with the profile. */
export type ProfileAdmin = {
  show(): Promise<Result<ProfileStanding>>;
  /** Newest first. */
  history(limit: number): Promise<Result<readonly ProfileVersion[]>>;
  /** Takes all of it off the disk; resolves with how many versions there were. */
  remove(): Promise<Result<number>>;
};

/** Where a person's words stand: an event of a session. */
export type HeardMessage = { readonly sessionId: string; readonly seq: number };

/** What conversations need of the profile. */
export type TurnProfile = {
  /** As the model gets to read it; empty while nothing was learned. */
  text(): Promise<Result<string>>;
  /** A person said something, durably. Returns at once. */
  heard(message: HeardMessage): void;
  /** A turn was answered by this "PROVIDER/NAME", who may now be asked what there is to learn. Returns at once. */
  turnDone(model: string): void;
};

/** The profile as indented JSON, without what is not known; empty when nothing is. */
export function profileText(profile: UserProfile): string {
  const known = PROFILE_KEYS.filter((key) => profile[key] !== "");
  if (known.length === 0) return "";
  return JSON.stringify(Object.fromEntries(known.map((key) => [key, profile[key]])), undefined, 2);
}
