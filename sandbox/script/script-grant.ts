import type { ScriptRequest } from "../../core/domain/admin.ts";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { type Grant, type Permission, parsePermission } from "../permission/permission.ts";

function parseAll(texts: readonly string[], flag: string, folder: string): Result<Permission[]> {
  const permissions: Permission[] = [];
  for (const text of texts) {
    const parsed = parsePermission(text, folder);
    if (!parsed.ok) return fail("invalid", `--${flag}-${text}: ${parsed.message}`);
    permissions.push(...parsed.value);
  }
  return ok(permissions);
}

/** What the flags of a command line grant. */
export function scriptGrant({ allow, deny, folder }: ScriptRequest): Result<Grant> {
  const allowed = parseAll(allow, "allow", folder);
  if (!allowed.ok) return allowed;
  const denied = parseAll(deny, "deny", folder);
  return denied.ok ? ok({ allow: allowed.value, deny: denied.value }) : denied;
}
