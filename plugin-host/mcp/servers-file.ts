import { constants } from "node:fs";
import { open, rename } from "node:fs/promises";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";

const MAX_FILE_BYTES = 1024 * 1024;
/** Opening a FIFO must not wait for its writer. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
const SERVERS_KEY = "mcpServers";

/** A file with servers: all that stands in it, and the servers by name. */
export type ServersFile = { readonly whole: JsonObject; readonly servers: Readonly<Record<string, JsonValue>> };

/** Reads a file of the form `{"mcpServers": {…}}`. A missing one holds none; `invalid` says what is wrong with another. */
export async function readServersFile(file: string): Promise<Result<ServersFile>> {
  const text = await readText(file);
  if (!text.ok) return text;
  if (text.value === undefined) return ok({ whole: {}, servers: {} });
  let whole: unknown;
  try {
    whole = JSON.parse(text.value);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return fail("invalid", `${file} is not JSON: ${why}`, { hint: "mend it, then: claw mcp reload", cause });
  }
  const servers = isJsonObject(whole) ? (whole[SERVERS_KEY] ?? {}) : undefined;
  if (!isJsonObject(whole) || !isJsonObject(servers))
    return fail("invalid", `${file} must hold a table "${SERVERS_KEY}"`, { hint: 'write {"mcpServers": {…}}' });
  return ok({ whole, servers });
}

/** Puts other servers into a file, in one step; everything else in it stays. */
export async function writeServersFile(
  file: string,
  { whole }: ServersFile,
  servers: ServersFile["servers"],
): Promise<Result<void>> {
  return writeWhole(file, JSON.stringify({ ...whole, [SERVERS_KEY]: servers }, null, 2));
}

/** Durable and whole, or not at all. */
export async function writeWhole(file: string, text: string): Promise<Result<void>> {
  try {
    const handle = await open(`${file}.new`, "w", 0o600);
    try {
      await handle.writeFile(`${text}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${file}.new`, file);
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `${file} cannot be written`, { hint: "look at its rights and the free space", cause });
  }
}

/** Undefined when there is no such file. */
export async function readText(file: string): Promise<Result<string | undefined>> {
  try {
    const handle = await open(file, OPEN_FLAGS);
    try {
      const info = await handle.stat();
      if (!info.isFile())
        return fail("invalid", `${file} is not a regular file`, { hint: "put the file itself there" });
      if (info.size > MAX_FILE_BYTES)
        return fail("invalid", `${file} is larger than ${MAX_FILE_BYTES / 1024} KiB`, { hint: "shorten it" });
      return ok(await handle.readFile("utf8"));
    } finally {
      await handle.close();
    }
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return ok(undefined);
    return fail("unavailable", `${file} cannot be read: ${code}`, { hint: "look at its rights", cause });
  }
}
