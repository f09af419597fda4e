import { readFile, writeFile } from "node:fs/promises";

const TOKEN_BYTES = 32;

/** The token of the TCP door: the configured one, or else one that is made once and kept in a file for its owner alone. */
export async function gatewayToken(
  file: string,
  configured: string,
  randomBytes: (count: number) => Buffer,
): Promise<string> {
  if (configured !== "") return configured;
  const kept = await readFile(file, "utf8").catch(() => "");
  if (kept.trim() !== "") return kept.trim();
  const made = randomBytes(TOKEN_BYTES).toString("base64url");
  await writeFile(file, `${made}\n`, { mode: 0o600 });
  return made;
}
