/**
 * Parts of the surface that are texts of their own, which the host hands over when they are first used: an isolate that
 * needs no URL does not pay for one. Runs inside the isolate.
 */

import { HOST_WORDS } from "./guest-protocol.ts";

export type Loader = (name: string) => unknown;

/**
 * A library's text leaves its exports in `clawdLibrary` and may load others with `clawdLoad`. It runs once, in the guest's
 * realm: whatever the guest has done to its built-ins before is the guest's own loss.
 * @param evaluate a captured, indirect eval
 */
export function libraryLoader(
  askHost: (word: string, question: string) => string,
  evaluate: (text: string) => unknown,
): Loader {
  const loaded: Record<string, unknown> = Object.create(null);
  const load: Loader = (name) => {
    if (name in loaded) return loaded[name];
    const text = askHost(HOST_WORDS.library, name);
    if (text === "") throw new Error(`this part of the runtime is not there: ${name}`);
    const make = evaluate(`(function (clawdLoad) { ${text}\nreturn clawdLibrary; })\n//# sourceURL=clawd:library`);
    loaded[name] = (make as (load: Loader) => unknown)(load);
    return loaded[name];
  };
  return load;
}

/** Puts names into the global scope whose values are made at the first look at one of them. */
export function defineLazily(
  names: readonly string[],
  values: () => object,
  defineGlobal: (name: string, value: unknown) => void,
): void {
  for (const name of names) {
    Object.defineProperty(globalThis, name, {
      get() {
        const value = (values() as Record<string, unknown>)[name];
        defineGlobal(name, value);
        return value;
      },
      set(value: unknown) {
        defineGlobal(name, value);
      },
      configurable: true,
      enumerable: false,
    });
  }
}
