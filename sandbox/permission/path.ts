/**
 * Resolves `.`, `..` and double slashes of an absolute path without looking at the disk; undefined for anything else.
 */
export function normalizePath(path: string): string | undefined {
  if (!path.startsWith("/") || path.includes("\0")) return undefined;
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  return `/${kept.join("/")}`;
}
