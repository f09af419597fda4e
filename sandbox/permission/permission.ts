/**
 * What code may touch. A permission without its value (`path`, `host` …) means all of its kind.
 * Paths are absolute and lexically normal; the real path is judged again when the file is open.
 */
export type Permission =
  | { readonly kind: "read" | "write"; readonly path?: string }
  | { readonly kind: "net"; readonly host?: string; readonly port?: number }
  | { readonly kind: "env"; readonly name?: string }
  | { readonly kind: "run"; readonly program?: string }
  | { readonly kind: "sys"; readonly api?: string }
  | { readonly kind: "tool"; readonly name?: string }
  | { readonly kind: "memory"; readonly access?: "read" | "write" };

export type PermissionKind = Permission["kind"];

/** What a person granted. A deny always beats an allow; what is in neither list is denied. */
export type Grant = { readonly allow: readonly Permission[]; readonly deny: readonly Permission[] };
