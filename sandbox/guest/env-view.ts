/**
 * What a guest may know of the environment. `Deno.env.get` is synchronous, so the values are handed over at load: only
 * those the grant names, nothing else is in the isolate.
 */
export type EnvView = {
  /** The granted variables that are set. */
  readonly values: Readonly<Record<string, string>>;
  /** Granted names and `PREFIX*` patterns, `*` for all. */
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
};

/** Names that hold secrets: a pattern does not open them, only their exact name does. */
const SECRET_NAME = /(?:_|^)(?:TOKEN|KEY|SECRET|PASSWORD)$/i;

function matches(patterns: readonly string[], name: string, exactOnly: boolean): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith("*") ? !exactOnly && name.startsWith(pattern.slice(0, -1)) : pattern === name,
  );
}

/** Whether the grant behind a view covers this variable, set or not. A deny beats every allow. */
export function mayReadVariable(view: Pick<EnvView, "allowed" | "denied">, name: string): boolean {
  return !matches(view.denied, name, false) && matches(view.allowed, name, SECRET_NAME.test(name));
}
