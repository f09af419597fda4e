import type { JsonObject } from "@bufbuild/protobuf";
import type { Failure } from "../domain/failure.ts";
import type { ToolOutcome } from "../domain/tool.ts";

/** Time limit of a call that touches files, milliseconds. */
export const FILE_TIMEOUT_MS = 30_000;

export function done(output: string): ToolOutcome {
  return { status: "done", output };
}

/** @param found what the model should see although the call failed */
export function failed(failure: Failure, found = ""): ToolOutcome {
  const what = failure.hint === undefined ? failure.message : `${failure.message}. ${failure.hint}`;
  return { status: "failed", output: found === "" ? what : `${what}\n${found}`, failure };
}

// The arguments were checked by the tool's schema, so another type than the asked one means that the key is absent.

export function textArg(args: JsonObject, key: string, absent = ""): string {
  const value = args[key];
  return typeof value === "string" ? value : absent;
}

export function numberArg(args: JsonObject, key: string, absent: number): number {
  const value = args[key];
  return typeof value === "number" ? value : absent;
}

export function flagArg(args: JsonObject, key: string): boolean {
  return args[key] === true;
}

/** `3 lines`, `1 line`. */
export function count(many: number, noun: string, plural = `${noun}s`): string {
  return `${many.toLocaleString("en-US")} ${many === 1 ? noun : plural}`;
}
