import type { Environment } from "./home.ts";

/** Variables that decide which provider and which embedder a daemon uses, and how. */
const PROVIDER_VARIABLES = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "GOOGLE_API_KEY",
  "GOOGLE_BASE_URL",
  "LOCAL_BASE_URL",
  "EMBEDDING_API_KEY",
  "EMBEDDING_API_URL",
  "EMBEDDING_MODEL",
];

/** The set ones, without their values: enough for the daemon to notice that it was started with others. */
export function digestProviderVariables(env: Environment): { name: string; sha256: string }[] {
  return PROVIDER_VARIABLES.flatMap((name) => {
    const value = env[name] ?? "";
    if (value === "") return [];
    // Loaded only when a variable is set: it costs a few milliseconds.
    const sha256 = process.getBuiltinModule("node:crypto").createHash("sha256").update(value).digest("hex");
    return [{ name, sha256 }];
  });
}
