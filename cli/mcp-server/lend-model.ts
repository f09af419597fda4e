import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
} from "@modelcontextprotocol/server";
import { type ModelWish, SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import { fail, ok, type Result, thrownText } from "../trouble.ts";
import type { House } from "./house.ts";

/** Asks the client's own model. Rejects when the client does not want that, or the signal aborts. */
export type AskClient = (params: CreateMessageRequestParams, signal: AbortSignal) => Promise<Sampled>;
type Sampled = CreateMessageResult | CreateMessageResultWithTools;

/** The protocol's words for how an answer ended; any other counts as a good end. */
const STOPS: Readonly<Record<string, string>> = { maxTokens: "length", refusal: "refused" };

/** Lends the client's model to calls that name the lender, until the signal aborts. Resolves with the lender's id. */
export async function lendModel(house: House, ask: AskClient, signal: AbortSignal): Promise<Result<string>> {
  const news = house.stream(SessionService.method.lendModel, {}, signal);
  const first = await news.next();
  if (first.done === true) return fail("refused", "the daemon takes no model from one more client");
  if (!first.value.ok) return first.value;
  if (first.value.value.news.case !== "lenderId") return fail("failed", "the daemon gave the lender no name");
  const { value: lenderId } = first.value.value.news;
  void (async () => {
    for await (const item of news) {
      if (!item.ok) return;
      if (item.value.news.case === "wish") void answerWish(house, item.value.news.value, ask, signal);
    }
  })();
  return ok(lenderId);
}

async function answerWish(house: House, wish: ModelWish, ask: AskClient, signal: AbortSignal): Promise<void> {
  const { wishId, system, messages, maxTokens } = wish;
  const params: CreateMessageRequestParams = {
    ...(system === "" ? {} : { systemPrompt: system }),
    messages: messages.flatMap(({ role, texts }) =>
      texts.map((text) => ({
        role: role === "assistant" ? ("assistant" as const) : ("user" as const),
        content: { type: "text" as const, text },
      })),
    ),
    maxTokens,
  };
  const answer = await ask(params, signal).then(readAnswer, (cause: unknown) => ({ problem: thrownText(cause) }));
  // A daemon that went away waits for nothing any more.
  await house.call(SessionService.method.answerLent, { wishId, ...answer });
}

function readAnswer({ content, model, stopReason = "" }: Sampled) {
  let text = "";
  for (const part of Array.isArray(content) ? content : [content]) {
    if (part.type !== "text") return { problem: `the client's model answered with ${part.type}` };
    text += part.text;
  }
  return { text, model, stop: STOPS[stopReason] ?? "done" };
}
