/** URL and URLSearchParams, which are a library of their own. Runs inside the isolate. */

import { defineLazily, type Loader } from "./lazy-library.ts";
import type { URL, URLSearchParams } from "./url.ts";

type UrlClasses = { readonly URL: typeof URL; readonly URLSearchParams: typeof URLSearchParams };

let loader: Loader = () => undefined;
let classes: UrlClasses | undefined;

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
export function installUrls(load: Loader, defineGlobal: (name: string, value: unknown) => void): void {
  loader = load;
  defineLazily(["URL", "URLSearchParams"], urlClasses, defineGlobal);
}
