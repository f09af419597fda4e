import { isAbsolute, normalize } from "node:path";
import { fail, ok, type Result } from "../domain/failure.ts";

/**
 * The one spelling that a folder has in the house, whatever a client wrote: absolute, without `.`, `..` and a slash at the end.
 * Notes of a project are known by it. Links stay as they are.
 */
export function readFolder(written: string): Result<string> {
  if (!isAbsolute(written) || written.includes("\0")) {
    return fail("invalid", `the path ${JSON.stringify(written)} is not absolute`, {
      hint: "name the folder from / on",
    });
  }
  const path = normalize(written);
  return ok(path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path);
}
