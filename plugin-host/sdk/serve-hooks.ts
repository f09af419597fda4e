import { create, fromJson, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  HookAnswerSchema,
  type HookEvent,
  HookService,
  type StreamHooksRequest,
  type StreamHooksResponse,
  StreamHooksResponseSchema,
} from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { MAX_MESSAGE_BYTES } from "./bearer.ts";
import type { HookDefinition, HookVerdict } from "./definition.ts";
import type { Routes } from "./grpc-server.ts";
import { callContextOf, type Running } from "./running.ts";

/** What a message may hold, less the few bytes around an answer. */
const MAX_ANSWER_BYTES = MAX_MESSAGE_BYTES - 64;

type Answer = MessageInitShape<typeof HookAnswerSchema>;

/** Hears events: all on one stream, or one a call. No event waits for another. */
export function serveHooks(router: Routes, hooks: readonly HookDefinition[], running: Running): void {
  router.service(HookService, {
    streamHooks: (requests, { signal }) => answerAll(hooks, running, requests, signal),
    runHook: async ({ event }, { signal }) => ({
      answer: event === undefined ? {} : await answerOne(hooks, running, event, signal),
    }),
  });
}

/** Answers in the order in which they are ready. Ends when the host ends the stream or the plugin is told to end. */
async function* answerAll(
  hooks: readonly HookDefinition[],
  running: Running,
  requests: AsyncIterable<StreamHooksRequest>,
  signal: AbortSignal,
): AsyncGenerator<StreamHooksResponse> {
  const atWork = new Map<number, AbortController>();
  let ready: StreamHooksResponse[] = [];
  let noMore = false;
  let wake = () => {};
  const close = () => {
    noMore = true;
    wake();
  };
  const hear = async () => {
    for await (const { kind } of requests) {
      if (kind.case === "cancelled") {
        atWork.get(kind.value)?.abort();
        atWork.delete(kind.value);
      }
      if (kind.case !== "event") continue;
      const event = kind.value;
      const cancel = new AbortController();
      atWork.set(event.id, cancel);
      void answerOne(hooks, running, event, cancel.signal).then((answer) => {
        // Nobody waits for the answer to a cancelled event.
        if (atWork.get(event.id) !== cancel) return;
        atWork.delete(event.id);
        ready.push(create(StreamHooksResponseSchema, { id: event.id, answer }));
        wake();
      });
    }
  };
  // A stream that breaks is told to the loop below by its signal.
  void hear().then(close, close);
  running.ending.addEventListener("abort", close, { once: true });
  signal.addEventListener("abort", close, { once: true });
  try {
    while (!signal.aborted) {
      const answers = ready;
      ready = [];
      yield* answers;
      if (ready.length > 0) continue;
      if (noMore && atWork.size === 0) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    running.ending.removeEventListener("abort", close);
    signal.removeEventListener("abort", close);
    for (const cancel of atWork.values()) cancel.abort();
  }
}

/** Never rejects: what a hook throws is its failure. */
async function answerOne(
  hooks: readonly HookDefinition[],
  running: Running,
  event: HookEvent,
  signal: AbortSignal,
): Promise<Answer> {
  const hook = pick(hooks, event);
  if (hook === undefined) return failure(`there is no hook at ${event.at} here`);
  let done = () => {};
  try {
    done = running.work.begin();
    const { at, sessionId, workspace, value = {} } = event;
    const verdict = await hook.run({ at, sessionId, workspace, value }, callContextOf(running, event, signal));
    return sendable(answerOf(verdict));
  } catch (cause) {
    if (!signal.aborted) console.error(cause);
    return failure(wordsOf(cause));
  } finally {
    done();
  }
}

/** The one at the same place of plugin.json; otherwise, where places differ, the first at the same point. */
function pick(hooks: readonly HookDefinition[], event: HookEvent): HookDefinition | undefined {
  const placed = hooks[event.hook];
  return placed?.at === event.at ? placed : hooks.find(({ at }) => at === event.at);
}

function answerOf(verdict: HookVerdict): Answer {
  if (verdict === undefined) return {};
  if (typeof verdict === "object" && verdict !== null) {
    if ("block" in verdict) return { verdict: { case: "block", value: String(verdict.block) } };
    if ("modify" in verdict) return { verdict: { case: "modify", value: verdict.modify } };
    if ("answer" in verdict) return { verdict: { case: "answer", value: fromJson(ValueSchema, verdict.answer) } };
    if ("skip" in verdict) return { verdict: { case: "skip", value: true } };
    if ("pass" in verdict) return { verdict: { case: "pass", value: true } };
  }
  return failure(`the hook answered ${JSON.stringify(verdict)?.slice(0, 100)}, which is no answer`);
}

/**
 * Throws on what no message can hold, say a circle or a function: thrown later, it would end the stream with every event on it.
 */
function sendable(answer: Answer): Answer {
  if (answer.verdict?.case !== "modify" && answer.verdict?.case !== "answer") return answer;
  const { byteLength } = toBinary(HookAnswerSchema, create(HookAnswerSchema, answer));
  if (byteLength > MAX_ANSWER_BYTES)
    throw new Error(`the hook answered ${byteLength} bytes; a message has at most 4 MiB`);
  return answer;
}

/** Of anything at all that was thrown. */
function wordsOf(cause: unknown): string {
  try {
    return String(cause instanceof Error ? cause.message : cause);
  } catch {
    return "it threw what has no words";
  }
}

function failure(text: string): Answer {
  return { verdict: { case: "failure", value: text === "" ? "it failed without a word" : text } };
}
