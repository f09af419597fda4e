import { hash } from "node:crypto";

const HASH_CHARS = 32;

/** What vectors are kept by: 128 bits of SHA-256 over what an embedder is given, hex. Holds no path, so that a rename costs nothing. */
export function textHashOf(title: string, text: string): string {
  return hash("sha256", `${title}\n${text}`, "hex").slice(0, HASH_CHARS);
}
