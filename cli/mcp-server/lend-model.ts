import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
} from "@modelcontextprotocol/server";
import { type ModelWish, SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import { fail, ok, type Result } from "../trouble.ts";
import type { House } from "./house.ts";
import type { OpenWish } from "./work.ts";

/** What becomes of a wish: why there is no answer, or the answer. */
export type LentAnswer =
  | { readonly problem: string }
  | { readonly text: string; readonly model: string; readonly stop: string; readonly tokens?: number };
type Sampled = CreateMessageResult | CreateMessageResultWithTools;

/** The protocol's words for how an answer ended; any other counts as a good end. */
const STOPS: Readonly<Record<string, string>> = { maxTokens: "length", refusal: "refused" };
/** More is no count of tokens. */
const TOKENS_MAX = 0xffff_ffff;

/** Lends the client's model to the call that names the lender, until the signal aborts. Resolves with the lender's id. */
export async function lendModel(
  house: House,
  ask: (wish: OpenWish) => void,
  signal: AbortSignal,
): Promise<Result<string>> {
  const news = house.stream(SessionService.method.lendModel, {}, signal);
  const first = await news.next();
  if (first.done === true)
    return fail("refused", "the daemon takes no model from one more client", "call again when another call is over");
  if (!first.value.ok) return first.value;
  if (first.value.value.news.case !== "lenderId")
    return fail(
      "failed",
      "the daemon gave the lender no name",
      "claw down, then again: the daemon may be of another version",
    );
  const { value: lenderId } = first.value.value.news;
  void (async () => {
    for await (const item of news) {
      if (!item.ok) return;
      if (item.value.news.case !== "wish") continue;
      const wish = item.value.news.value;
      const answer = (said: LentAnswer) => {
        // A daemon that went away waits for nothing any more.
        void house.call(SessionService.method.answerLent, { wishId: wish.wishId, ...said });
      };
      ask({ wish, answer, over: signal });
    }
  })();
  return ok(lenderId);
}

/** A wish as the protocol asks for it. */
export function samplingParams({ system, messages, maxTokens }: ModelWish): CreateMessageRequestParams {
  return {
    ...(system === "" ? {} : { systemPrompt: system }),
    messages: messages.flatMap(({ role, texts }) =>
      texts.map((text) => ({
        role: role === "assistant" ? ("assistant" as const) : ("user" as const),
        content: { type: "text" as const, text },
      })),
    ),
    maxTokens,
  };
}

/** What a client answered, with the tokens where its `_meta` has `usage`. */
export function readSampled({ content, model, stopReason = "", _meta }: Sampled): LentAnswer {
  let text = "";
  for (const part of Array.isArray(content) ? content : [content]) {
    if (part.type !== "text") return { problem: `the client's model answered with ${part.type}` };
    text += part.text;
  }
  const tokens = tokensOf(_meta?.usage);
  return { text, model, stop: STOPS[stopReason] ?? "done", ...(tokens === undefined ? {} : { tokens }) };
}

/** The protocol has no field for it; these are the names that programs use. */
function tokensOf(usage: unknown): number | undefined {
  const { inputTokens, outputTokens }: Readonly<Record<string, unknown>> = Object(usage);
  if (typeof inputTokens !== "number" || typeof outputTokens !== "number") return undefined;
  const isCount = (count: number) => Number.isSafeInteger(count) && count >= 0;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined;
  return Math.min(inputTokens + outputTokens, TOKENS_MAX);
}
