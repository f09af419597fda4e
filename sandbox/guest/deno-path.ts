/** What Deno's functions take for a path. Runs inside the isolate. */

const { hasOwn } = Object;
const { apply } = Reflect;
const startsWith = String.prototype.startsWith;
const decode = decodeURIComponent;

/** A path as text; a `file:` URL is the path it names. Throws what Deno throws. */
export function pathText(path: unknown): string {
  if (typeof path === "string") {
    if (path === "") throw new Error("Empty path is not allowed");
    return path;
  }
  // A URL object, told by its shape: the URL library is large, and only loaded by who uses it.
  if (typeof path === "object" && path !== null && !hasOwn(path, "href")) {
    const { href, pathname } = path as { href?: unknown; pathname?: unknown };
    if (typeof href === "string" && typeof pathname === "string") {
      if (!apply(startsWith, href, ["file:"])) throw new TypeError("Must be a file URL");
      return decode(pathname);
    }
  }
  throw new TypeError("a path must be a string or a file: URL");
}
