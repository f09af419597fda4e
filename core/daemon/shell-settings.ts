import { isAbsolute } from "node:path";
import { parsePermission } from "../../sandbox/permission/permission.ts";
import type { ShellNetwork } from "../tools/shell-network.ts";
import { type Section, stringsOf, type Values } from "./section.ts";

/** What the shell's commands reach beside the workspace. */
export type ShellSettings = {
  readonly network: ShellNetwork;
  readonly read: readonly string[];
  readonly write: readonly string[];
};

/** [shell]. */
export const SHELL_SECTION: Section<ShellSettings> = {
  keys: {
    "shell.network": "boolean",
    "shell.net": "strings",
    "shell.host_network": "boolean",
    "shell.read": "strings",
    "shell.write": "strings",
  },
  check(values) {
    for (const key of ["shell.read", "shell.write"]) {
      const relative = stringsOf(values, key).find((path) => !isAbsolute(path));
      if (relative !== undefined) return { key, what: `must hold absolute paths, not ${JSON.stringify(relative)}` };
    }
    for (const host of stringsOf(values, "shell.net")) {
      const parsed = parsePermission(`net=${host}`, "/");
      if (!parsed.ok) return { key: "shell.net", what: `must hold "HOST", "HOST:PORT" or networks: ${parsed.message}` };
    }
    return undefined;
  },
  read: (values) => ({
    network: networkOf(values),
    read: stringsOf(values, "shell.read"),
    write: stringsOf(values, "shell.write"),
  }),
};

/** All public addresses, what is named, or both; `host_network` is more than either. */
function networkOf(values: Values): ShellNetwork {
  if (values.get("shell.host_network") === true) return "host";
  const named = stringsOf(values, "shell.net").flatMap((host) => {
    const parsed = parsePermission(`net=${host}`, "/");
    return parsed.ok ? parsed.value : [];
  });
  const allow = values.get("shell.network") === true ? [{ kind: "net" } as const, ...named] : named;
  return allow.length === 0 ? "none" : { allow, deny: [] };
}
