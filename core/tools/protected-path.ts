type Guarded = { readonly parts: readonly string[]; readonly because: string };

const STARTS_PROGRAMS = "shells run it when they start";
const HOLDS_KEYS = "keys and credentials lie there";

/** Names that mean the same wherever they are: a file named so is read by some program from any folder. */
const GUARDED_ANYWHERE: readonly Guarded[] = [
  { parts: [".git"], because: "it decides which programs git runs, and only git itself may write it" },
  ...[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
  ].map((name) => ({ parts: [name], because: STARTS_PROGRAMS })),
  { parts: [".config", "fish"], because: STARTS_PROGRAMS },
  { parts: [".gitconfig"], because: "it decides which programs git runs" },
  { parts: [".config", "git"], because: "it decides which programs git runs" },
  { parts: [".config", "autostart"], because: "the desktop runs what lies there" },
  { parts: [".config", "systemd"], because: "the system runs what lies there" },
  { parts: [".mcp.json"], because: "it decides which servers agents start" },
  ...[
    [".ssh"],
    [".gnupg"],
    [".aws"],
    [".azure"],
    [".kube"],
    [".docker", "config.json"],
    [".config", "gcloud"],
    [".config", "gh"],
    [".netrc"],
    [".pypirc"],
    [".pgpass"],
    [".git-credentials"],
  ].map((parts) => ({ parts, because: HOLDS_KEYS })),
];

/** Folders that people also work in, so that only those below the workspace count. */
const GUARDED_IN_WORKSPACE: readonly Guarded[] = [
  { parts: [".claude"], because: "it decides what coding agents run" },
  { parts: [".vscode"], because: "it decides what the editor runs" },
  { parts: [".idea"], because: "it decides what the editor runs" },
];

/**
 * Why a path may never be written, whoever allows it: it decides what the machine runs later, or holds keys. Undefined
 * when it may. Case does not count, because on some disks it does not.
 * @param path absolute and lexically normal, as are `workspace` and `protectedPaths`
 */
export function protectedPath(path: string, workspace: string, protectedPaths: readonly string[]): string | undefined {
  if (protectedPaths.some((root) => isWithin(root, path))) return "clawd keeps its own data there";
  const parts = partsOf(path);
  const anywhere = GUARDED_ANYWHERE.find((guarded) => contains(parts, guarded.parts));
  if (anywhere !== undefined) return anywhere.because;
  const below = isWithin(workspace, path) ? parts.slice(partsOf(workspace).length) : parts;
  return GUARDED_IN_WORKSPACE.find((guarded) => contains(below, guarded.parts))?.because;
}

/** True when `path` is `root` or below it, by whole components. Both absolute and normal. */
export function isWithin(root: string, path: string): boolean {
  return root === "/" || path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`);
}

function partsOf(path: string): readonly string[] {
  return path
    .normalize("NFKC")
    .toLowerCase()
    .split("/")
    .filter((part) => part !== "");
}

function contains(parts: readonly string[], wanted: readonly string[]): boolean {
  return parts.some((_, from) => wanted.every((name, index) => parts[from + index] === name));
}
