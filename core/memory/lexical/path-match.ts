/** Longer than any path that is meant. */
const PATTERN_LIMIT_CHARS = 1_024;
const PATH_LIMIT_CHARS = 4_096;

/**
 * Judges whether a path is, or lies below, this folder or file: `/home/me/notes`, or a part as `src/memory` anywhere in
 * it; or holds this glob: `*` and `?` stay within a name, `**` does not. Takes time in proportion to path times pattern
 * at worst, so no pattern can stall a search.
 */
export function pathMatcher(pattern: string): (path: string) => boolean {
  const cut = pattern.slice(0, PATTERN_LIMIT_CHARS).replace(/\/+$/, "");
  if (/[*?]/.test(cut)) return globMatcher(cut);
  const rooted = cut.startsWith("/");
  return (path) => {
    if (path === cut || path.startsWith(`${cut}/`)) return true;
    return !rooted && (path.endsWith(`/${cut}`) || path.includes(`/${cut}/`));
  };
}

type Step = { readonly kind: "char"; readonly char: string } | { readonly kind: "one" | "some" | "any" };

function stepsOf(glob: string): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob.charAt(at);
    if (char === "?") steps.push({ kind: "one" });
    else if (char !== "*") steps.push({ kind: "char", char });
    else if (glob.charAt(at + 1) !== "*") steps.push({ kind: "some" });
    else {
      steps.push({ kind: "any" });
      at += 1;
      // `**/` may stand for no folder at all.
      if (glob.charAt(at + 1) === "/") at += 1;
    }
  }
  return steps;
}

/** All ways through the pattern at once: `reached[n]` says that the path so far can be what the first n steps say. */
function globMatcher(glob: string): (path: string) => boolean {
  const steps = stepsOf(glob);
  const rooted = glob.startsWith("/");
  return (path) => {
    let reached = new Uint8Array(steps.length + 1);
    let next = new Uint8Array(steps.length + 1);
    reached[0] = 1;
    skipStars(steps, reached);
    for (let at = 0; at < Math.min(path.length, PATH_LIMIT_CHARS); at += 1) {
      const char = path.charAt(at);
      next.fill(0);
      for (const [index, step] of steps.entries()) {
        if (reached[index] !== 1) continue;
        if (step.kind === "any" || (step.kind === "some" && char !== "/")) next[index] = 1;
        else if (step.kind === "one" ? char !== "/" : step.kind === "char" && step.char === char) next[index + 1] = 1;
      }
      // What does not begin at the root may begin at any name, and whatever is below a match belongs to it.
      if (!rooted && char === "/") next[0] = 1;
      skipStars(steps, next);
      if (reached[steps.length] === 1 && char === "/") return true;
      [reached, next] = [next, reached];
    }
    return reached[steps.length] === 1;
  };
}

function skipStars(steps: readonly Step[], reached: Uint8Array): void {
  for (const [index, { kind }] of steps.entries())
    if (reached[index] === 1 && (kind === "some" || kind === "any")) reached[index + 1] = 1;
}
