import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { HookAnswer } from "../../core/domain/hook.ts";
import { readModified } from "../../core/domain/hook-answer.ts";
import { showable } from "../../core/domain/showable.ts";
import type { HookAnswer as WireAnswer } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";

/**
 * What a plugin says to an event whose value was `before`. Messages of failures go on after the hook's name; an answer
 * that cannot be understood is a failure, never a silent pass.
 */
export function readHookAnswer({ verdict, last }: WireAnswer, before: JsonObject): Result<HookAnswer> {
  switch (verdict.case) {
    case undefined:
      return ok({ do: last ? "skip" : "pass" });
    case "pass":
      if (!verdict.value) return fail("invalid", "answered with a pass that is false");
      return ok({ do: last ? "skip" : "pass" });
    case "skip":
      return verdict.value ? ok({ do: "skip" }) : fail("invalid", "answered with a skip that is false");
    case "modify": {
      const modified = readModified(verdict.value, before);
      if (!modified.ok || modified.value.do !== "modify" || !last) return modified;
      return ok({ ...modified.value, last: true });
    }
    case "block":
      return ok({ do: "block", because: showable(verdict.value) });
    case "answer": {
      const result = readValue(verdict.value);
      return result.ok ? ok({ do: "answer", result: result.value }) : result;
    }
    case "failure":
      return fail("unavailable", `failed: ${showable(verdict.value)}`);
  }
}

function readValue(value: Parameters<typeof toJson<typeof ValueSchema>>[1]): Result<JsonValue> {
  try {
    return ok(toJson(ValueSchema, value));
  } catch (cause) {
    return fail("invalid", "gave an answer that is no JSON", { cause });
  }
}
