import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { confineCommand } from "../broker/command-walls.ts";
import type { Environment } from "../broker/environment.ts";
import type { FileRules } from "../broker/file-rules.ts";
import type { DeniedConnection } from "../egress/egress-proxy.ts";
import type { Confinement } from "../os/launcher.ts";
import { isInFolder } from "../permission/grant.ts";
import type { Grant } from "../permission/permission.ts";

/** What marks the folder of a program, as Deno looks for it. */
const CONFIG_FILES = ["deno.json", "deno.jsonc"];
const PROJECT_FILES = [...CONFIG_FILES, "package.json"];

export type DenoPlace = {
  /** The file that is started. Absolute and real. */
  readonly file: string;
  /** Where it is started. Absolute and real. */
  readonly folder: string;
  readonly env: Environment;
  readonly rules: FileRules;
};

export type DenoWallsOptions = DenoPlace & {
  readonly grant: Grant;
  /** The same with what people answer meanwhile: what the way to the network goes by. */
  readonly liveGrant: Grant;
  /** A person may be asked for more, so the walls must have room for it. */
  readonly attended: boolean;
  /** Absolute paths that exist, for the program's own needs. */
  readonly needed: readonly string[];
  readonly onDenied: (denied: DeniedConnection) => void;
};

/**
 * What a Deno sees of the machine: its program's own folder, what is granted, and what can be asked for. What it may do
 * there Deno asks for each time; these walls hold what it does not ask for.
 */
export async function confineDeno(options: DenoWallsOptions): Promise<Confinement> {
  const { grant, liveGrant, rules, folder, attended, onDenied } = options;
  const room = attended ? askableFolder(options) : undefined;
  const asked =
    room === undefined
      ? []
      : ([
          { kind: "read", path: room },
          { kind: "write", path: room },
        ] as const);
  // What can be written through a mount can be read, too: that it must not be, only Deno's own question says.
  const written = grant.allow.flatMap((rule) => (rule.kind === "write" ? [{ ...rule, kind: "read" } as const] : []));
  const wide = { allow: [...grant.allow, ...written, ...asked], deny: grant.deny };
  const walls = await confineCommand(wide, rules, onDenied);
  const hasNetwork = attended || grant.allow.some(({ kind }) => kind === "net");
  const runsPrograms = attended || grant.allow.some(({ kind }) => kind === "run");
  return {
    ...walls,
    read: [...walls.read, ...options.needed, ...sourcePlaces(options)],
    folders: [folder],
    network: hasNetwork ? { grant: liveGrant, onDenied } : "none",
    system: runsPrograms ? "programs" : "libraries",
  };
}

/**
 * The folder whose files a person can be asked for: the one that the program was started in, unless that is a whole home.
 * The walls of a running program cannot be moved, so there is no more.
 */
export function askableFolder(place: DenoPlace): string | undefined {
  return isTooWide(place.folder, place) ? undefined : place.folder;
}

/** The folder of the program; where that folder is a person's whole home, the file and its deno.json alone. */
export function sourcePlaces(place: DenoPlace): readonly string[] {
  const own = dirname(place.file);
  if (isTooWide(own, place)) {
    return [place.file, ...CONFIG_FILES.map((name) => join(own, name)).filter((path) => existsSync(path))];
  }
  for (let folder = own; !isTooWide(folder, place); folder = dirname(folder)) {
    if (PROJECT_FILES.some((name) => existsSync(join(folder, name)))) return [folder];
  }
  return [own];
}

/** A home, the folder of everybody's temporary files, or what holds one of them. */
function isTooWide(folder: string, { env, rules }: DenoPlace): boolean {
  return ["/tmp", env.HOME ?? "/", ...rules.hidden].some((path) => isInFolder(folder, path));
}
