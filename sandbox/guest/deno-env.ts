/** `Deno.env`. Runs inside the isolate. */

import { type Asker, needs } from "./deno-denial.ts";
import { type EnvView, mayReadVariable } from "./env-view.ts";

const { hasOwn } = Object;
const { apply } = Reflect;
const { includes } = String.prototype;
const { get: mapGet, set: mapSet, has: mapHas, forEach } = Map.prototype;

function has(text: string, part: string): boolean {
  return apply(includes, text, [part]);
}

/**
 * The variables in `view()`; it is asked each time, because an answer of a person widens it. What a guest sets or deletes
 * stays with it, and asks for the same permission as in Deno.
 */
export function denoEnv(view: () => EnvView, asker: Asker) {
  /** Undefined for deleted. */
  const own = new Map<string, string | undefined>();

  function permit(name: string): void {
    if (!mayReadVariable(view(), name)) throw needs(asker, "env", name);
  }
  function permitAll(): void {
    const { allowed, denied } = view();
    for (let at = 0; at < allowed.length; at += 1) if (allowed[at] === "*" && denied.length === 0) return;
    throw needs(asker, "env", null);
  }
  function look(key: unknown): string | undefined {
    const name = `${key}`;
    permit(name);
    if (name === "") throw new TypeError("Key is an empty string.");
    if (has(name, "=") || has(name, "\0"))
      throw new TypeError(`Key contains invalid characters: ${JSON.stringify(name)}`);
    if (apply(mapHas, own, [name])) return apply(mapGet, own, [name]) as string | undefined;
    const { values } = view();
    return hasOwn(values, name) ? values[name] : undefined;
  }

  return {
    get: (key: unknown): string | undefined => look(key),
    toObject(): Record<string, string> {
      permitAll();
      const all: Record<string, string> = { ...view().values };
      apply(forEach, own, [
        (value: string | undefined, name: string) => {
          if (value === undefined) delete all[name];
          else all[name] = value;
        },
      ]);
      return all;
    },
    set(key: unknown, value: unknown): void {
      look(key);
      const text = `${value}`;
      if (has(text, "\0")) throw new TypeError(`Value contains invalid characters: ${JSON.stringify(text)}`);
      apply(mapSet, own, [`${key}`, text]);
    },
    has: (key: unknown): boolean => look(key) !== undefined,
    delete(key: unknown): void {
      look(key);
      apply(mapSet, own, [`${key}`, undefined]);
    },
  };
}
