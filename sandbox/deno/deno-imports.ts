import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Environment } from "../broker/environment.ts";
import { check } from "../permission/grant.ts";
import type { Grant } from "../permission/permission.ts";

/** Where modules come from: those that Deno takes without being told to, and the registry of npm. */
const REGISTRIES = [
  "registry.npmjs.org",
  "jsr.io",
  "deno.land",
  "esm.sh",
  "cdn.jsdelivr.net",
  "raw.githubusercontent.com",
  "gist.githubusercontent.com",
];
const HTTPS_PORT = 443;
/** In the sandbox's own /tmp: what is loaded for one run is seen by no other. */
const FRESH_CACHE = "/tmp/deno";
/** What in Deno's folder are modules; beside them lie other programs' data. */
const MODULE_FOLDERS = ["npm", "remote"];

/** How a program gets the modules that are not files of its own. */
export type DenoImports =
  /** From what the person's own Deno has cached, which is shown to it and not changed. */
  | { readonly from: "cache"; readonly dir: string; readonly read: readonly string[] }
  /** From the network, as far as that is granted, into a folder that ends with the run. */
  | { readonly from: "network"; readonly dir: string; readonly read: readonly string[] };

/** A grant that opens no registry means the cache. */
export function denoImports(grant: Grant, env: Environment): DenoImports {
  if (REGISTRIES.some((host) => check(grant, { kind: "net", host, port: HTTPS_PORT }).ok)) {
    return { from: "network", dir: FRESH_CACHE, read: [] };
  }
  const dir = cacheFolder(env);
  const read = MODULE_FOLDERS.flatMap((name) => (dir === undefined ? [] : [join(dir, name)])).filter((path) =>
    existsSync(path),
  );
  return { from: "cache", dir: dir === undefined || read.length === 0 ? FRESH_CACHE : dir, read };
}

/** Where Deno keeps its modules; it has another place on macOS. */
function cacheFolder({ DENO_DIR, XDG_CACHE_HOME, HOME }: Environment): string | undefined {
  const places = [
    DENO_DIR,
    XDG_CACHE_HOME && join(XDG_CACHE_HOME, "deno"),
    HOME && join(HOME, "Library/Caches/deno"),
    HOME && join(HOME, ".cache/deno"),
  ];
  return places.find((place): place is string => !!place && isAbsolute(place) && existsSync(place));
}
