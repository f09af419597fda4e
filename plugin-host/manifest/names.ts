import { ok, type Result } from "../../core/domain/failure.ts";
import type { Reject } from "./rejection.ts";

const MAX_DEPENDENCIES = 32;
const NAME = /^[a-zA-Z][a-zA-Z0-9-]{0,63}$/;

/** For messages about a name that is none. */
export const NAME_FORM = "must be a letter, then at most 63 letters, digits or hyphens";

/** Of a plugin, or of what it offers by a name of its own. */
export function isName(name: string): boolean {
  return NAME.test(name);
}

/** The index of the first word that stands there before; undefined when all differ. */
export function findTwice(words: readonly string[]): number | undefined {
  const seen = new Set<string>();
  for (const [index, word] of words.entries()) {
    if (seen.has(word)) return index;
    seen.add(word);
  }
  return undefined;
}

/** The other plugins that one needs. */
export function judgeDependencies(
  name: string,
  dependencies: readonly string[],
  reject: Reject,
): Result<readonly string[]> {
  if (dependencies.length > MAX_DEPENDENCIES)
    return reject("dependencies", `has more than ${MAX_DEPENDENCIES} entries`);
  for (const [index, dependency] of dependencies.entries()) {
    const at = `dependencies[${index}]`;
    if (!isName(dependency)) return reject(at, `${JSON.stringify(dependency)} is no name of a plugin`);
    if (dependency === name) return reject(at, "is the plugin itself", "remove it");
  }
  const twice = findTwice(dependencies);
  if (twice !== undefined)
    return reject(`dependencies[${twice}]`, `"${dependencies[twice]}" stands there twice`, "remove one");
  return ok(dependencies);
}
