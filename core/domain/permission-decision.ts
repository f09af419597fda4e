import type { JsonObject } from "@bufbuild/protobuf";
/** Who may ask a person for more than was granted, and what came of it. */

/** A script wants to touch something that is neither granted nor denied. */
export type PermissionQuestion = {
  /** "hook:NAME", "script:PATH" or "plugin:NAME". */
  readonly principal: string;
  /** What it wants, in the permission language, with its real value: safe to show. */
  readonly permission: string;
};

/** `nobody`: no one is there, or no one answered in time. The script cannot tell it from a no. */
export type PersonsWord =
  | {
      readonly said: "yes" | "no";
      readonly scope: "once" | "session" | "always";
      /** What was filled in, with a yes to a question that had a schema. */
      readonly content?: JsonObject;
    }
  | { readonly said: "nobody" };

/** One decision about a permission: what the journal keeps of it. */
export type PermissionDecision = {
  readonly principal: string;
  /** Lower-case hex SHA-256 of the program. */
  readonly sourceHash: string;
  /** What was wanted, in the permission language. */
  readonly permission: string;
  /** The real path, the addresses; empty when nothing was looked at. */
  readonly resolved: string;
  readonly allowed: boolean;
  readonly by: "rule" | "remembered" | "person" | "nobody" | "storm";
  /** The rule or the answer that decided. */
  readonly because: string;
  /** Wall time of the deciding. */
  readonly ms: number;
  /** Decisions before this one that were not written, because there were too many at once. */
  readonly leftOut: number;
};
