import type { JsonObject } from "@bufbuild/protobuf";
import type { Failure } from "../../domain/failure.ts";
import { isJsonObject } from "../../domain/json-object.ts";
import type { Tool } from "../../domain/tool.ts";
import { failed } from "./tool-answer.ts";
import { ELEMENTS_LIMIT } from "./vector-index.ts";

const TIMEOUT_MS = 120_000;

export const INDEX_NAME = { type: "string", minLength: 1, description: "The index." } as const;
export const LABEL = { type: "integer", minimum: 0, description: "The element's label." } as const;
export const VECTOR = { type: "array", items: { type: "number" }, minItems: 1, description: "The numbers." } as const;
export const METADATA = { type: "object", description: "What you want to keep with it." } as const;
export const COUNT = { type: "integer", minimum: 1, maximum: ELEMENTS_LIMIT } as const;

type Described = Pick<Tool, "name" | "description" | "run"> & {
  readonly access: "read" | "write";
  readonly properties: JsonObject;
  readonly required: readonly string[];
  readonly aliases?: readonly string[];
  readonly needs?: Tool["needs"];
};

/** A tool over indices of vectors: they are long-term memory, and the permission to use that is asked for. */
export function vectorTool({ access, properties, required, aliases = [], needs, ...rest }: Described): Tool {
  return {
    ...rest,
    input: { type: "object", properties, required: [...required], additionalProperties: false },
    aliases,
    category: access === "read" ? "memory_read" : "memory_write",
    rerun: access === "read" ? "safe" : "unsafe",
    timeoutMs: TIMEOUT_MS,
    needs: (args, workspace) => [{ kind: "memory", access }, ...(needs?.(args, workspace) ?? [])],
  };
}

export function vectorArg(args: JsonObject, key: string): Float32Array {
  const value = args[key];
  return Float32Array.from(Array.isArray(value) ? value.map(Number) : []);
}

/** As it is kept; empty for none. */
export function metadataArg(args: JsonObject): string {
  return isJsonObject(args.metadata) && Object.keys(args.metadata).length > 0 ? JSON.stringify(args.metadata) : "";
}

export function readMetadata(kept: string): JsonObject {
  if (kept === "") return {};
  const value: unknown = JSON.parse(kept);
  return isJsonObject(value) ? value : {};
}

export function orFail<T>(
  result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure },
  tell: (value: T) => ReturnType<typeof failed>,
) {
  return result.ok ? tell(result.value) : failed(result.failure);
}
