import type { Failure, Result } from "../../core/domain/failure.ts";
import { type HookPoint, isFired } from "../../core/domain/hook.ts";
import type { ScriptProgram } from "../program/script-program.ts";
import type { CommandOrder } from "./command-hook-file.ts";
import type { HookHeader } from "./hook-header.ts";

/** What every hook of the folder has, however it is run. */
type Common = {
  /** The file's name without ending; in a package `PACKAGE/FILE`, and `PACKAGE` for the file of the package's name. */
  readonly name: string;
  /** Absolute path. */
  readonly file: string;
  /** Its trust group: the package or command file it belongs to, else its own name. */
  readonly group: string;
  /** Where its relative paths start: the hooks folder or its package. */
  readonly folder: string;
  readonly header: HookHeader;
  /** What people should know although nothing is wrong. */
  readonly notes: readonly string[];
  /** What is wrong with it, as far as is known: its header, or what came of the last attempt to bundle it. */
  failure(): Failure | undefined;
};

/** A script that runs in an isolate. */
export type ScriptHook = Common & {
  readonly kind: "script";
  /** Bundles it, on the first call and after a change of any of its files. Fails for one that is broken. */
  program(): Promise<Result<ScriptProgram>>;
};

/** A command of a settings file in the format of Claude Code. */
export type CommandHook = Common & { readonly kind: "command"; readonly order: CommandOrder };

export type KnownHook = ScriptHook | CommandHook;

/** Points of a hook at which nothing is fired yet, as a note; empty when all are. */
export function notFiredNotes(points: readonly HookPoint[]): readonly string[] {
  const silent = points.filter((point) => !isFired(point));
  return silent.length === 0 ? [] : [`nothing fires ${silent.join(", ")} yet: it waits there until something does`];
}
