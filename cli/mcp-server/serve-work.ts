import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  isSpecType,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import { thrownText } from "../trouble.ts";
import type { House } from "./house.ts";
import { readSampled, samplingParams } from "./lend-model.ts";
import { questionForm, type Reply, readReply } from "./question-form.ts";
import type { Held, Visitor } from "./visitor.ts";
import { type Asked, failedResult, type OpenQuestion, type OpenWish, type Work } from "./work.ts";

/** How long a client's person may take over a form, milliseconds: longer than the daemon lets a question stand. */
const FORM_LIMIT_MS = 10 * 60_000;
/** How long a client's model, and the person who is asked about it, may take, milliseconds. */
const SAMPLING_LIMIT_MS = 10 * 60_000;
const PROGRESS_LIMIT_CHARS = 2_000;

export type Desk = {
  readonly house: House;
  readonly visitor: Visitor;
  /** What the client calls itself. */
  readonly caller: string;
  /** `modern` clients are asked by an answer that they come back to, all others by a request of ours. */
  readonly era: "legacy" | "modern";
  readonly canAnswer: boolean;
  /** True where its model can be asked. */
  readonly canSample: boolean;
  /** True where a line of progress goes to the log of a client that gave no token for it. */
  readonly logsProgress: boolean;
};

type Answer = CallToolResult | InputRequiredResult;

/** Takes up the work that a client comes back to with an answer; undefined when the request begins something. */
export function takeHeld({ visitor }: Desk, ctx: ServerContext, request: string): Held | undefined {
  const key = ctx.mcpReq.requestState<string>();
  if (key === undefined) return undefined;
  const held = visitor.take(key);
  if (held !== undefined && held.request === request) return held;
  held?.work.stop();
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "what was asked about is over; begin again");
}

/** Goes on with work after its client's answer. */
export async function resumeWork(desk: Desk, ctx: ServerContext, { work, asked, request }: Held): Promise<Answer> {
  const { inputResponses } = ctx.mcpReq;
  if (asked.kind === "question") {
    const reply = readReply(inputResponses?.[keyOf(asked)], asked.asked.question);
    // An answer that cannot be read is no yes.
    await settle(desk, work, asked.asked, reply ?? "dismissed");
  } else {
    const view = inputResponse(inputResponses, keyOf(asked));
    const none = { problem: "the client came back without what its model says" };
    const isAnswer = view.kind === "sampling" && isSpecType.CreateMessageResult(view.result);
    asked.asked.answer(isAnswer ? readSampled(view.result) : none);
  }
  return serveWork(desk, ctx, work, request);
}

/** What the client's answer is found by. The daemon's name of a wish is a secret that nobody else needs. */
function keyOf(one: Asked): string {
  return one.kind === "question" ? one.asked.question.approvalId : "model";
}

/** Waits for the end of work, with the client's person asked on the way. A request that is cancelled stops it. */
export async function serveWork(desk: Desk, ctx: ServerContext, work: Work, request: string): Promise<Answer> {
  const { signal } = ctx.mcpReq;
  const stop = () => work.stop();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const ended = desk.visitor.began(work);
  work.onProgress(openProgress(desk, ctx));
  try {
    for (;;) {
      const next = await work.next();
      if (next.kind === "result") return next.result;
      if (next.kind === "question" && (!desk.canAnswer || !desk.visitor.claim(keyOf(next)))) continue;
      if (desk.era === "legacy") {
        // A model takes its time, and a question can be answered meanwhile.
        if (next.kind === "wish") void askModelNow(ctx, next.asked);
        else await askNow(desk, ctx, work, next.asked);
        continue;
      }
      const requestState = desk.visitor.hold({ work, asked: next, request });
      if (requestState === undefined) {
        work.stop();
        return failedResult("too many calls of this client wait for an answer", "answer some of them first");
      }
      const wanted =
        next.kind === "question"
          ? inputRequired.elicit(questionForm(next.asked.question))
          : inputRequired.createMessage(samplingParams(next.asked.wish));
      return inputRequired({ inputRequests: { [keyOf(next)]: wanted }, requestState });
    }
  } finally {
    signal.removeEventListener("abort", stop);
    ended();
  }
}

async function askModelNow({ mcpReq }: ServerContext, { wish, answer, over }: OpenWish): Promise<void> {
  const options = { signal: over, timeout: SAMPLING_LIMIT_MS };
  const asked = mcpReq.requestSampling(samplingParams(wish), options);
  answer(await asked.then(readSampled, (cause: unknown) => ({ problem: thrownText(cause) })));
}

async function askNow(desk: Desk, ctx: ServerContext, work: Work, question: OpenQuestion): Promise<void> {
  const signal = AbortSignal.any([question.over, ctx.mcpReq.signal]);
  if (signal.aborted) return;
  // With the stream of its call: a client need not have one of its own for what a server asks.
  const options = { signal, timeout: FORM_LIMIT_MS, relatedRequestId: ctx.mcpReq.id };
  const asked = ctx.mcpReq.elicitInput(questionForm(question.question), options);
  // Settled elsewhere, or a client that cannot do what it said: then the question stays open to everybody else.
  const reply = await asked.then(
    (answer) => readReply(answer, question.question),
    () => undefined,
  );
  if (reply !== undefined) await settle(desk, work, question, reply);
}

/** Whoever dismisses a question wants none of what it was about. */
async function settle({ house }: Desk, work: Work, { question, sessionId }: OpenQuestion, reply: Reply): Promise<void> {
  if (reply === "dismissed") return work.stop();
  const { approvalId } = question;
  // Somebody else may have been faster; then that counts.
  const taken = await house.call(SessionService.method.answer, { sessionId, approvalId, ...reply });
  if (taken.ok || reply.content === undefined) return;
  // What does not fit its form is no yes, and nobody is going to fill it in again.
  await house.call(SessionService.method.answer, { sessionId, approvalId, allowed: false });
}

function openProgress({ logsProgress }: Desk, ctx: ServerContext): (text: string) => void {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  let progress = 0;
  return (text) => {
    const message = text.slice(0, PROGRESS_LIMIT_CHARS);
    progress += 1;
    const told =
      progressToken !== undefined
        ? ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } })
        : logsProgress
          ? ctx.mcpReq.log("info", message, "clawd")
          : undefined;
    // A client that went away needs no progress.
    told?.catch(() => undefined);
  };
}
