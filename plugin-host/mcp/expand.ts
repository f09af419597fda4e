const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Puts variables in: `${NAME}`, and `${NAME:-otherwise}` where it may be missing. One that is set stands as it is, also when it is
 * empty; one that is not set and has no other text is nothing. What is no whole reference stays as it is written.
 */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replaceAll(REFERENCE, (_, name: string, otherwise: string | undefined) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    return value ?? otherwise ?? "";
  });
}
