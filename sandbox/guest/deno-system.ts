/** Facts about the machine and the program. Runs inside the isolate. */

import { type Asker, needs } from "./deno-denial.ts";
import type { Json, SysView } from "./guest-protocol.ts";
import { eachOf } from "./own-list.ts";

const { hasOwn } = Object;

/** Functions of Deno that only hand out a fact, by the name of their `sys` permission. */
const FACTS = ["hostname", "osRelease", "osUptime", "loadavg", "systemMemoryInfo", "uid", "gid"] as const;

/** The same for every guest on every machine: nothing about the machine is told without a permission. */
export const BUILD = {
  target: "x86_64-unknown-linux-gnu",
  arch: "x86_64",
  os: "linux",
  vendor: "unknown",
  env: "gnu",
  standalone: false,
} as const;

/** The release of Deno whose behaviour this follows, for programs that look. */
export const VERSION = { deno: "2.9.6", v8: "15.0.245.2-rusty", typescript: "6.0.3" } as const;

export function denoSystem(view: () => SysView, asker: Asker): Record<(typeof FACTS)[number], () => Json> {
  const fact = (api: string) => (): Json => {
    const facts = view();
    const value = hasOwn(facts, api) ? facts[api] : undefined;
    if (value === undefined) throw needs(asker, "sys", api);
    // A copy: what a guest does to an answer must not change the next one.
    return typeof value === "object" && value !== null ? (JSON.parse(JSON.stringify(value)) as Json) : value;
  };
  const functions = {} as Record<(typeof FACTS)[number], () => Json>;
  eachOf(FACTS, (api) => {
    functions[api] = fact(api);
  });
  return functions;
}
