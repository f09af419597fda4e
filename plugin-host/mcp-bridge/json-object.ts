import type { JsonObject } from "@bufbuild/protobuf";

/** What a server said, as far as it is an object at all. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
