import { resolve } from "node:path";
import type { Permission } from "../../../sandbox/permission/permission.ts";
import type { Result } from "../../domain/failure.ts";

export type WorkspacePdf = {
  /** Relative to the workspace, for people. */
  readonly shown: string;
  /** Absolute, no link in it. */
  readonly real: string;
  readonly pages: readonly string[];
  /** Of the whole document; `pages` may hold fewer when it is longer than anybody reads. */
  readonly pageCount: number;
};

/** Reads a PDF of a workspace by the rules of the file tools: nothing outside it, nothing of the daemon's own. */
export type OpenPdf = (path: string, workspace: string, signal: AbortSignal) => Promise<Result<WorkspacePdf>>;

export function pdfNeeds(path: string, workspace: string): readonly Permission[] {
  return [{ kind: "read", path: resolve(workspace, path) }];
}
