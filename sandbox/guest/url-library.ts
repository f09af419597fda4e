/**
 * URL and URLSearchParams, which are a text of their own that the host hands over when they are first used: an isolate
 * that needs no URL does not pay for one. Runs inside the isolate.
 */

import { HOST_WORDS } from "./guest-protocol.ts";
import type { URL, URLSearchParams } from "./url.ts";

type UrlClasses = { readonly URL: typeof URL; readonly URLSearchParams: typeof URLSearchParams };
type Loader = (name: string) => unknown;

let loader: Loader = () => undefined;
let classes: UrlClasses | undefined;

/**
 * A library's text leaves its exports in `clawdLibrary` and may load others with `clawdLoad`. It runs once.
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
  loader = load;
  return load;
}

function urlClasses(): UrlClasses {
  classes ??= loader("url") as UrlClasses;
  return classes;
}

/** A URL from a guest's value; throws a TypeError that names who takes it. */
export function parseUrl(value: unknown, taker: string): URL {
  const { URL: Url } = urlClasses();
  if (value instanceof Url) return value;
  const text = String(value);
  if (!Url.canParse(text)) throw new TypeError(`Invalid URL: '${text}' (${taker} takes an absolute one)`);
  return new Url(text);
}

export function searchParams(text: string): Iterable<[string, string]> {
  return new (urlClasses().URLSearchParams)(text);
}

/** Where the classes were never loaded there is no instance of them. */
export function isSearchParams(value: unknown): boolean {
  return classes !== undefined && value instanceof classes.URLSearchParams;
}

/** Puts the two names into the global scope; the first look at either loads both. */
export function installUrls(defineGlobal: (name: string, value: unknown) => void): void {
  for (const name of ["URL", "URLSearchParams"] as const) {
    Object.defineProperty(globalThis, name, {
      get() {
        const value = urlClasses()[name];
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
