import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Failure, fail, ok, type Result } from "./failure.ts";
import type { HookAnswer, HookEvent, HookOnError, HookPoint, HookReply } from "./hook.ts";
import { isJsonObject } from "./json-object.ts";
import { showable } from "./showable.ts";

const FORMS = 'nothing, {pass:true}, {modify:value}, {block:"why"}, {answer:result} or {skip:true}';

function kindOf(value: JsonValue | undefined): string {
  return value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
}

/**
 * The answer that puts a value in place of the event's. It has to be whole: what is missing would be missing for
 * everybody after. Messages here go on after the hook's name.
 */
export function readModified(value: JsonValue | undefined, before: JsonObject): Result<HookAnswer> {
  if (!isJsonObject(value)) return fail("invalid", "gave a modify that is not an object");
  for (const [key, old] of Object.entries(before)) {
    if (!Object.hasOwn(value, key))
      return fail(
        "invalid",
        `gave a modify without "${key}": it takes the whole value, for instance {modify: {...event.value, ${key}: …}}`,
      );
    if (kindOf(value[key]) !== kindOf(old))
      return fail("invalid", `gave a modify whose "${key}" is a ${kindOf(value[key])}, not a ${kindOf(old)}`);
  }
  return ok({ do: "modify", value });
}

type Form = HookAnswer["do"];

const HEARD: readonly Form[] = ["pass", "skip"];
const STOPPED: readonly Form[] = [...HEARD, "block"];
const CHANGED: readonly Form[] = [...HEARD, "modify", "block"];
/** What a point can do with an answer; those that are not here can do with every one. */
const TAKEN: Partial<Record<HookPoint, readonly Form[]>> = {
  "session.created": STOPPED,
  "session.closed": HEARD,
  "message.received": CHANGED,
  "context.build": CHANGED,
  "model.before": CHANGED,
  "model.after": CHANGED,
  "step.before": STOPPED,
  "step.after": HEARD,
  "turn.ended": HEARD,
  "approval.asked": STOPPED,
};

/** The answer, when the point can do something with it. */
export function takenAt(at: HookPoint, answer: HookAnswer): Result<HookAnswer> {
  const taken = TAKEN[at];
  if (!taken || taken.includes(answer.do)) return ok(answer);
  return fail("invalid", `answered ${answer.do}, which ${at} does not take; it takes ${taken.join(", ")}`);
}

/** Reads what a hook returned. Anything but exactly one of the known forms is its failure, never a silent pass. */
export function readAnswer(returned: JsonValue, event: HookEvent): Result<HookAnswer> {
  if (returned === null) return ok({ do: "pass" });
  const keys = isJsonObject(returned) ? Object.keys(returned) : [];
  if (!isJsonObject(returned) || keys.length !== 1) {
    const got = isJsonObject(returned) ? `{${keys.slice(0, 5).join(", ")}}` : `a ${kindOf(returned)}`;
    return fail("invalid", `returned ${showable(got)}; an answer is ${FORMS}`);
  }
  const { block, pass, skip } = returned;
  if (pass === true) return ok({ do: "pass" });
  if (skip === true) return ok({ do: "skip" });
  if (typeof block === "string") return ok({ do: "block", because: showable(block) });
  if (Object.hasOwn(returned, "modify")) return readModified(returned.modify, event.value);
  if (Object.hasOwn(returned, "answer")) return ok({ do: "answer", result: returned.answer ?? null });
  return fail("invalid", `returned a ${showable(keys[0] ?? "")} that is not one of ${FORMS}`);
}

/** What a hook said that answered; its words are kept for the receipt. */
export function repliedWith(answer: HookAnswer, ms: number): HookReply {
  return { answer, because: answer.do === "block" || answer.do === "ask" ? answer.because : "", ms };
}

/** What a hook that failed is taken to have said. The failure's message goes on after its name. */
export function failedReply(name: string, failure: Failure, onError: HookOnError, ms: number): HookReply {
  const what = `hook "${name}" ${failure.message}`;
  const critical = `Critical hook '${name}' ${failure.code === "timed_out" ? "timed out" : "failed"}: ${what}`;
  const because = onError === "deny" ? critical : what;
  switch (onError) {
    case "allow":
      return { answer: { do: "pass" }, because, ms };
    case "deny":
      return { answer: { do: "block", because }, because, ms };
    case "ask":
      return { answer: { do: "ask", because }, because, ms };
  }
}
