/** After the last event, so that a burst of them is one. */
const QUIET_MS = 100;
/** After the first one, however many follow. */
const WAIT_LIMIT_MS = 1_000;
/** With more paths than this, everything is looked at. */
const PATHS_LIMIT = 256;

/** Collects what changed until nothing changes for a moment, then gives it all at once; [""] stands for everything. */
export type DirtyPaths = {
  add(path: string): void;
  close(): void;
};

export function collectDirty(give: (paths: readonly string[]) => void): DirtyPaths {
  const paths = new Set<string>();
  let quiet: NodeJS.Timeout | undefined;
  let latest: NodeJS.Timeout | undefined;

  function clear(): void {
    clearTimeout(quiet);
    clearTimeout(latest);
    quiet = latest = undefined;
  }

  function flush(): void {
    clear();
    const all = paths.has("") || paths.size > PATHS_LIMIT;
    const given = all ? [""] : [...paths];
    paths.clear();
    give(given);
  }

  return {
    add(path) {
      if (paths.size <= PATHS_LIMIT) paths.add(path);
      latest ??= setTimeout(flush, WAIT_LIMIT_MS).unref();
      clearTimeout(quiet);
      quiet = setTimeout(flush, QUIET_MS).unref();
    },
    close: clear,
  };
}
