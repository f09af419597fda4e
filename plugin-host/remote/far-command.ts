/** Stands in the place of a program: what it names is started elsewhere, and only if its files have the digest behind it. */
export const FAR_COMMAND = "clawd-remote";
const DIGEST = /^[0-9a-f]{64}$/;

/** The digest of a remote plugin's files by its command; undefined for a plugin of this machine. */
export function farDigest([program, digest]: readonly string[]): string | undefined {
  return program === FAR_COMMAND && digest !== undefined && DIGEST.test(digest) ? digest : undefined;
}

/** True for a plugin of another machine. */
export function isFar({ command }: { readonly command: readonly string[] }): boolean {
  return farDigest(command) !== undefined;
}
