import { createHash } from "node:crypto";
import type { JsonValue } from "@bufbuild/protobuf";
import { ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { readText, writeWhole } from "./servers-file.ts";

/** A yes to one server of one folder, in exactly the form that was shown. */
export type McpApproval = { readonly workspace: string; readonly name: string; readonly sha256: string };

/**
 * What a yes is said to: an entry of a folder's file, as it stands there, and what it is granted by it. The same words grant
 * more when a link that they name leads elsewhere, or a variable says something else.
 */
export function entryDigest(workspace: string, name: string, entry: JsonValue, granted: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify([workspace, name, entry, granted]))
    .digest("hex");
}

/** What was said yes to; a file that cannot be read holds nothing, so that everything is asked about again. */
export async function readApprovals(file: string): Promise<readonly McpApproval[]> {
  const text = await readText(file);
  if (!text.ok || text.value === undefined) return [];
  try {
    const json: unknown = JSON.parse(text.value);
    return isJsonObject(json) && Array.isArray(json.approved) ? json.approved.filter(isApproval) : [];
  } catch {
    return [];
  }
}

/** One yes a server and folder: a later one takes the place of the one before. */
export async function addApproval(file: string, approval: McpApproval): Promise<Result<void>> {
  const before = await readApprovals(file);
  const others = before.filter(({ workspace, name }) => workspace !== approval.workspace || name !== approval.name);
  const written = await writeWhole(file, JSON.stringify({ approved: [...others, approval] }, null, 2));
  return written.ok ? ok(undefined) : written;
}

function isApproval(value: unknown): value is McpApproval {
  return (
    isJsonObject(value) &&
    typeof value.workspace === "string" &&
    typeof value.name === "string" &&
    typeof value.sha256 === "string"
  );
}
