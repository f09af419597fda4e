import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { HookAnswer, HookEvent, HookOutcome, HookPoint, HookReceipt } from "../../core/domain/hook.ts";
import { showable } from "../../core/domain/showable.ts";
import type { OnError } from "./hook-header.ts";
import type { HookLevel } from "./hook-level.ts";

/** One hook's verdict on an event, with the milliseconds it took. `because` is for the receipt. */
export type Verdict = { readonly answer: HookAnswer; readonly because: string; readonly ms: number };

const FORMS = 'nothing, {pass:true}, {modify:value}, {block:"why"}, {answer:result} or {skip:true}';

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: JsonValue | undefined): string {
  return value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
}

/** A modified value has to be whole: what is missing would be missing for everybody after. */
function readModified(value: JsonValue | undefined, before: JsonObject): Result<HookAnswer> {
  if (!isObject(value)) return fail("invalid", "gave a modify that is not an object");
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
  const keys = isObject(returned) ? Object.keys(returned) : [];
  if (!isObject(returned) || keys.length !== 1) {
    const got = isObject(returned) ? `{${keys.slice(0, 5).join(", ")}}` : `a ${kindOf(returned)}`;
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

/** What came of an answer that its level does not let a hook give: nothing. */
export function rejectedVerdict(name: string, answer: HookAnswer, level: HookLevel, ms: number): Verdict {
  const because = `hook "${name}" answered ${answer.do}, which level=${level} does not let it: it counts as a pass`;
  return { answer: { do: "pass" }, because, ms };
}

/** What a hook that failed is taken to have said. The failure's message goes on after its name. */
export function failedVerdict(name: string, failure: Failure, onError: OnError, ms: number): Verdict {
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

export type VerdictMerge = {
  /** The value as the hooks before have made it. */
  readonly value: JsonObject;
  /** True once nothing after can change the outcome. */
  readonly decided: boolean;
  add(hook: string, verdict: Verdict): void;
  /** Notes a hook that was considered only. */
  pass(hook: string): void;
  outcome(): HookOutcome;
};

/**
 * Folds the verdicts of a point's hooks. The first `block` or `answer` decides. A `modify` feeds the next hook. An `ask`
 * stays; together with a `modify` it is a `block`, because a person cannot be asked about a value that is not carried.
 * At `context.build` every hook adds its part, and none can keep the others from adding theirs.
 */
export function mergeVerdicts(at: HookPoint, value: JsonObject): VerdictMerge {
  const receipts: HookReceipt[] = [];
  let current = value;
  let modified = false;
  let asked: Extract<HookAnswer, { do: "ask" }> | undefined;
  let last: HookAnswer | undefined;

  function answer(): HookAnswer {
    if (last && last.do !== "skip") return last;
    if (asked && modified)
      return {
        do: "block",
        because: `${asked.because}; another hook changed the value, which a question cannot carry`,
      };
    if (asked) return asked;
    if (modified) return { do: "modify", value: current };
    return last ?? { do: "pass" };
  }

  return {
    get value() {
      return current;
    },
    get decided() {
      return last !== undefined;
    },
    add(hook, verdict) {
      receipts.push({ hook, verdict: verdict.answer.do, because: verdict.because, ms: verdict.ms, ran: true });
      switch (verdict.answer.do) {
        case "pass":
          return;
        case "modify":
          current = verdict.answer.value;
          modified = true;
          return;
        case "ask":
          asked ??= verdict.answer;
          return;
        default:
          if (at !== "context.build") last = verdict.answer;
      }
    },
    pass: (hook) => receipts.push({ hook, verdict: "pass", because: "", ms: 0, ran: false }),
    outcome: () => ({ answer: answer(), receipts }),
  };
}
