import {
  type Grant,
  type Parsed,
  PERMISSION_KINDS,
  type Permission,
  parsePermission,
  parseValues,
} from "./permission.ts";

/** A grant as a file asks for it, or what is wrong with it and where. */
export type ParsedGrant =
  | { readonly ok: true; readonly value: Grant }
  | { readonly ok: false; readonly message: string };

/**
 * Reads the form that stands in JSON and TOML files: `{ "read": ["./src"], "sys": true, "deny": { "read": ["./src/.env"] } }`.
 * `true` means all of a kind, `false` nothing of it. Commas and backslashes in it are parts of a path.
 * @param baseDir absolute folder that relative paths start from
 * @param homeDir absolute folder that `~` stands for; without it `~` is refused
 */
export function parseManifestGrant(manifest: unknown, baseDir: string, homeDir?: string): ParsedGrant {
  if (!isTable(manifest)) return { ok: false, message: 'permissions are a table, as in { "read": ["./src"] }' };
  const { deny = {}, ...allow } = manifest;
  if (!isTable(deny)) return { ok: false, message: 'deny: permissions are a table, as in { "read": ["./src/.env"] }' };
  const allowed = parseKinds(allow, baseDir, homeDir);
  if (!allowed.ok) return allowed;
  const denied = parseKinds(deny, baseDir, homeDir);
  if (!denied.ok) return { ok: false, message: `deny: ${denied.message}` };
  return { ok: true, value: { allow: allowed.value, deny: denied.value } };
}

function parseKinds(table: Readonly<Record<string, unknown>>, baseDir: string, homeDir: string | undefined): Parsed {
  const permissions: Permission[] = [];
  for (const [word, value] of Object.entries(table)) {
    const kind = PERMISSION_KINDS.find((known) => known === word);
    // An unknown kind is explained as the language explains it.
    const parsed =
      kind === undefined || value === true
        ? parsePermission(word, baseDir)
        : isTexts(value)
          ? parseValues(kind, value.map(escapeBackslashes), baseDir, homeDir)
          : undefined;
    if (value === false && kind !== undefined) continue;
    if (!parsed) return { ok: false, message: `${word}: write true for all, or a list as in ["a", "b"]` };
    if (!parsed.ok) return parsed;
    permissions.push(...parsed.value);
  }
  return { ok: true, value: permissions };
}

function escapeBackslashes(text: string): string {
  return text.replaceAll("\\", "\\\\");
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
