import type { JsonObject } from "@bufbuild/protobuf";

/** Whether JSON is an object, not a list. Of anything else it says only that it has keys. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
