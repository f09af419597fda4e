import { basename, dirname, join, resolve } from "node:path";
import { check } from "../permission/grant.ts";
import type { Grant } from "../permission/permission.ts";
import type { FileRules } from "./file-rules.ts";
import { groundPermission, realPlace } from "./ground-grant.ts";
import type { Admission, Wanted } from "./judge.ts";
import { type OpenedPlace, openPlace } from "./opened-place.ts";
import { done, type Outcome, onSystem, type Refused, systemError } from "./outcome.ts";

/** What the file calls of one guest work with. */
export type FileDesk = {
  /** Absolute; relative paths start here. */
  readonly cwd: string;
  readonly rules: FileRules;
  /** What is granted now. */
  grant(): Grant;
  admit(wanted: Wanted): Promise<Outcome<Admission>>;
  /** Something outside is going to be changed. */
  effect(): void;
};

type Access = "read" | "write";

/** PATH_MAX of Linux. */
const PATH_LIMIT_BYTES = 4096;

/** A guest may touch what lies at this path, if that is where it seems to be. */
export type AdmittedPath = { readonly admission: Admission; readonly path: string };

/** The first half of every act on a file: what the guest wrote is judged. @param act as in `systemError` */
export async function admitPath(
  desk: FileDesk,
  kind: Access,
  named: string,
  act: string,
): Promise<Outcome<AdmittedPath>> {
  if (Buffer.byteLength(named) >= PATH_LIMIT_BYTES) return systemError("ENAMETOOLONG", act);
  const path = resolve(desk.cwd, named);
  const admission = await desk.admit({
    permission: { kind, path },
    named,
    ground: () => groundPermission({ kind, path }, ""),
    never: desk.rules.refusal(kind, path, desk.grant()),
  });
  return admission.ok ? done({ admission: admission.value, path }) : admission;
}

/** Why an act on a real path is refused; undefined when it is granted there, too. */
function refusalAt(desk: FileDesk, kind: Access, real: string, grant: Grant): string | undefined {
  const refusal = desk.rules.refusal(kind, real, grant);
  if (refusal !== undefined) return refusal;
  return check(grant, { kind, path: real }).ok ? undefined : "it leads out of what is granted";
}

/** The second half: the place that was opened is judged. Undefined when it is granted. */
export async function judgeReal(
  desk: FileDesk,
  kind: Access,
  admission: Admission,
  real: string,
): Promise<Refused | undefined> {
  const because = refusalAt(desk, kind, real, admission.grant);
  return because === undefined ? undefined : admission.deny(real, because);
}

/**
 * Opens what an admitted path leads to and judges it. What cannot be opened is told apart only inside of what is granted:
 * otherwise the way of failing would tell what there is outside. The caller closes the place.
 */
export async function openAdmitted(
  desk: FileDesk,
  kind: Access,
  { admission, path }: AdmittedPath,
  act: string,
  followLast: boolean,
): Promise<Outcome<OpenedPlace>> {
  const opened = await onSystem(act, () => openPlace(path, followLast));
  if (!opened.ok) {
    const place = followLast ? await realPlace(path) : await entryPlace(path);
    const refused = await judgeReal(desk, kind, admission, place);
    if (refused) return refused;
    const written = await admission.allow("");
    return written.ok ? opened : written;
  }
  const refused = await judgeReal(desk, kind, admission, opened.value.real);
  if (!refused) return opened;
  await opened.value[Symbol.asyncDispose]();
  return refused;
}

/** Where an entry of a folder lies, itself not followed when it is a link. */
export async function entryPlace(path: string): Promise<string> {
  return path === "/" ? path : join(await realPlace(dirname(path)), basename(path));
}
