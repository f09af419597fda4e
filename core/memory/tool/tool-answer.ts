import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Failed, Failure } from "../../domain/failure.ts";
import { fail } from "../../domain/failure.ts";
import type { ToolOutcome } from "../../domain/tool.ts";

/** What memory's tools answer is JSON: whoever calls them may be a program. */
export function answer(value: JsonValue): ToolOutcome {
  return { status: "done", output: JSON.stringify(value) };
}

export function failed(failure: Failure): ToolOutcome {
  const output = failure.hint === undefined ? failure.message : `${failure.message}. ${failure.hint}`;
  return { status: "failed", output, failure };
}

/** For what a schema cannot say: one of several fields has to be there. */
export function missingField(name: string): Failed {
  return fail("invalid", `Missing required field '${name}'`, { hint: "call it again with that field" });
}

// The arguments were checked by the tool's schema, so another type than the asked one means that the key is absent.

/** The first of the keys that holds a text which is not empty. */
export function textArg(args: JsonObject, ...keys: readonly string[]): string {
  for (const key of keys) {
    const value = args[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

export function numberArg(args: JsonObject, key: string, absent: number): number {
  const value = args[key];
  return typeof value === "number" ? value : absent;
}

export function textsArg(args: JsonObject, key: string): readonly string[] {
  const value = args[key];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** The first characters of a text, none of them cut in two. */
export function firstChars(text: string, limitChars: number, more = ""): string {
  if (text.length <= limitChars) return text;
  // Every character takes two units at most, so these hold one more than the limit if there are more.
  const chars = [...text.slice(0, limitChars * 2 + 2)];
  return chars.length <= limitChars ? text : `${chars.slice(0, limitChars).join("")}${more}`;
}

/** `3 notes`, `1 note`. */
export function counted(many: number, noun: string): string {
  return `${many} ${noun}${many === 1 ? "" : "s"}`;
}
