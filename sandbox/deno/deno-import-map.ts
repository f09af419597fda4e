import { lstat, realpath } from "node:fs/promises";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { check, isInFolder } from "../permission/grant.ts";
import type { Grant } from "../permission/permission.ts";
import { type DenoPlace, sourcePlaces } from "./deno-walls.ts";

/** Where an import map really is. Fails when it is not there, or no part of the program's code, or denied to it. */
export async function readableImportMap(named: string, grant: Grant, place: DenoPlace): Promise<Result<string>> {
  let real: string;
  try {
    real = await realpath(named);
    if (!(await lstat(real)).isFile()) return fail("invalid", `the import map ${named} is no file`);
  } catch (cause) {
    return fail("not_found", `there is no import map ${named}`, { cause });
  }
  const places = sourcePlaces(place);
  if (!places.some((shown) => isInFolder(shown, real))) {
    const message = `the import map ${named} is no part of the program, which is ${places.join(" and ")}`;
    return fail("invalid", message, { hint: "put it beside the program, or write its imports into a deno.json there" });
  }
  const { rules } = place;
  const hidden = rules.refusal("read", real, grant);
  // What is merely not granted is the program's own code; what is denied is not, wherever it lies.
  const isDenied = !check({ allow: [{ kind: "read" }], deny: grant.deny }, { kind: "read", path: real }).ok;
  if (hidden !== undefined || isDenied) {
    return fail("denied", `the import map ${named} is not to be read: ${hidden ?? "a --deny-read covers it"}`);
  }
  return ok(real);
}
