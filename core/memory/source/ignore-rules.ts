// .gitignore, matched without regular expressions made from it: the file is a stranger's, and a pattern such as
// "*a*a*a*a*b" must not cost more than pattern length times path length.

const RULES_LIMIT = 1_000;
const PATTERN_LIMIT_CHARS = 512;

type Token = { readonly kind: "star" } | { readonly kind: "one"; readonly accepts: (character: string) => boolean };
type Component = "any-depth" | readonly Token[];

export type IgnoreRule = {
  /** The folder of its .gitignore, relative to the root, "" or with a slash at the end. */
  readonly base: string;
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  readonly components: readonly Component[];
};

/** Reads one .gitignore. Patterns over 512 characters and those after the thousandth are ignored. */
export function parseIgnoreRules(text: string, base: string): IgnoreRule[] {
  const rules: IgnoreRule[] = [];
  for (const line of text.split("\n")) {
    const rule = parseRule(line.replace(/\r$/, "").replace(/(?<!\\) +$/, ""), base);
    if (rule !== undefined) rules.push(rule);
    if (rules.length >= RULES_LIMIT) break;
  }
  return rules;
}

/** What matching may still cost, in comparisons of characters; below 0 nothing matches any more. */
export type MatchBudget = { left: number };

/** Whether the last rule that matches says so. `path` is relative to the root. */
export function isIgnored(
  rules: readonly IgnoreRule[],
  path: string,
  isFolder: boolean,
  budget: MatchBudget = { left: Number.POSITIVE_INFINITY },
): boolean {
  const rule = rules.findLast(
    (candidate) =>
      (isFolder || !candidate.foldersOnly) &&
      path.startsWith(candidate.base) &&
      matchPath(candidate.components, path.slice(candidate.base.length).split("/"), budget),
  );
  return rule !== undefined && !rule.negated;
}

function parseRule(line: string, base: string): IgnoreRule | undefined {
  if (line === "" || line.startsWith("#") || line.length > PATTERN_LIMIT_CHARS) return undefined;
  const negated = line.startsWith("!");
  const pattern = negated ? line.slice(1) : line;
  const foldersOnly = pattern.endsWith("/");
  const body = foldersOnly ? pattern.slice(0, -1) : pattern;
  const names = body.replace(/^\//, "").split("/");
  if (names.every((name) => name === "")) return undefined;
  const components = names.map((name): Component => (name === "**" ? "any-depth" : parseTokens(name)));
  // A pattern without an inner slash matches at any depth.
  return { base, negated, foldersOnly, components: body.includes("/") ? components : ["any-depth", ...components] };
}

function parseTokens(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern.charAt(at);
    const closing = character === "[" ? pattern.indexOf("]", at + 2) : -1;
    if (character === "*") tokens.push({ kind: "star" });
    else if (character === "?") tokens.push({ kind: "one", accepts: () => true });
    else if (closing > 0) {
      tokens.push({ kind: "one", accepts: characterClass(pattern.slice(at + 1, closing)) });
      at = closing;
    } else {
      if (character === "\\" && at + 1 < pattern.length) at += 1;
      const literal = pattern.charAt(at);
      tokens.push({ kind: "one", accepts: (other) => other === literal });
    }
  }
  return tokens;
}

function characterClass(body: string): (character: string) => boolean {
  const inverted = body.startsWith("!") || body.startsWith("^");
  const members = inverted ? body.slice(1) : body;
  return (character) => {
    let inside = false;
    for (let at = 0; at < members.length; at += 1) {
      const isRange = members.charAt(at + 1) === "-" && at + 2 < members.length;
      const last = isRange ? members.charAt(at + 2) : members.charAt(at);
      if (character >= members.charAt(at) && character <= last) inside = true;
      if (isRange) at += 2;
    }
    return inside !== inverted;
  };
}

function matchPath(components: readonly Component[], names: readonly string[], budget: MatchBudget): boolean {
  return matchSequence(
    components,
    names,
    (component) => component === "any-depth",
    (component, name) => component !== "any-depth" && matchName(component, name, budget),
    budget,
  );
}

function matchName(tokens: readonly Token[], name: string, budget: MatchBudget): boolean {
  return matchSequence(
    tokens,
    Array.from(name),
    (token) => token.kind === "star",
    (token, character) => token.kind === "one" && token.accepts(character),
    budget,
  );
}

/** Wildcard matching with one point of return, the latest wildcard: never worse than pattern times subject. */
function matchSequence<P, S>(
  pattern: readonly P[],
  subject: readonly S[],
  isWildcard: (part: P) => boolean,
  accepts: (part: P, item: S) => boolean,
  budget: MatchBudget,
): boolean {
  let part = 0;
  let item = 0;
  let wildcard = -1;
  let resumeAt = 0;
  budget.left -= subject.length;
  while (item < subject.length) {
    budget.left -= 1;
    if (budget.left < 0) return false;
    const current = pattern[part];
    if (current !== undefined && isWildcard(current)) {
      wildcard = part;
      resumeAt = item;
      part += 1;
    } else if (current !== undefined && accepts(current, subject[item] as S)) {
      part += 1;
      item += 1;
    } else if (wildcard >= 0) {
      resumeAt += 1;
      item = resumeAt;
      part = wildcard + 1;
    } else return false;
  }
  return pattern.slice(part).every(isWildcard);
}
