import type { Flag, Positionals } from "../args.ts";

export const JSON_FLAG: Flag = { name: "json", kind: "switch", about: "print JSON lines" };
export const NONE: Positionals = { names: [], min: 0, max: 0 };

export function exactly(...names: readonly string[]): Positionals {
  return { names, min: names.length, max: names.length };
}

export function atMost(...names: readonly string[]): Positionals {
  return { names, min: 0, max: names.length };
}

/** Words that make one text, so that quotes may be left out. */
export function words(name: string, min: number): Positionals {
  return { names: [name], min, max: Number.POSITIVE_INFINITY };
}
