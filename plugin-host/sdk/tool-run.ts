import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { ResultPart, ToolAnswer, ToolDefinition } from "./definition.ts";
import { createNewsQueue, type NewsQueue, type Piece } from "./news-queue.ts";
import { callContextOf, type Running } from "./running.ts";
import { failureOf } from "./tool-error.ts";

/** What a call says, in the terms of no major. */
export type RunNews =
  | Piece
  | {
      readonly kind: "result";
      readonly parts: readonly ResultPart[];
      readonly failure: ReturnType<typeof failureOf> | undefined;
    };

export type ToolRequest = {
  readonly callId: string;
  readonly sessionId: string;
  readonly workspace: string;
  readonly tool: string;
  readonly args?: JsonObject | undefined;
};

/**
 * Runs one call: progress and output as they come, then the result. What the tool throws becomes a failure. Ends without
 * a result when the call is cancelled, even if the tool does not listen to its signal.
 */
export async function* runTool(
  definition: ToolDefinition | undefined,
  request: ToolRequest,
  running: Running,
  signal: AbortSignal,
): AsyncGenerator<RunNews> {
  if (definition === undefined) throw new ConnectError(`there is no tool "${request.tool}" here`, Code.NotFound);
  const done = running.work.begin();
  const news = createNewsQueue();
  let result: RunNews | undefined;
  void settle(definition, request, running, signal, news)
    .then((settled) => {
      result = settled;
      news.wake();
    })
    .finally(done);
  signal.addEventListener("abort", news.wake, { once: true });
  try {
    while (!signal.aborted) {
      const piece = news.take();
      // Pieces that came before the result are taken before it.
      if (piece !== undefined) yield piece;
      else if (result !== undefined) {
        yield result;
        return;
      } else await news.changed();
    }
  } finally {
    signal.removeEventListener("abort", news.wake);
    news.end();
  }
}

async function settle(
  definition: ToolDefinition,
  request: ToolRequest,
  running: Running,
  signal: AbortSignal,
  news: NewsQueue,
): Promise<RunNews> {
  const context = {
    ...callContextOf(running, request, signal),
    progress: news.progress,
    write: news.write,
  };
  try {
    const answer = await definition.run(request.args ?? {}, context);
    return { kind: "result", parts: await gather(answer, news, signal), failure: undefined };
  } catch (cause) {
    // The model reads the message; the stack is for the author. A cancelled call has no reader.
    if (!signal.aborted) console.error(cause);
    const failure = failureOf(cause);
    return { kind: "result", parts: [failure.message], failure };
  }
}

async function gather(answer: ToolAnswer, news: NewsQueue, signal: AbortSignal): Promise<readonly ResultPart[]> {
  if (answer === undefined) return [];
  if (typeof answer === "string") return [answer];
  // The author may write JavaScript, where no compiler says so.
  if (typeof answer !== "object" || answer === null || !(Symbol.asyncIterator in answer)) {
    if (Array.isArray(answer)) return answer;
    const shown = JSON.stringify(answer)?.slice(0, 100);
    throw new Error(`the tool gave back ${shown}, which is no result: give a text, a list of parts, or pieces of text`);
  }
  for await (const piece of answer) {
    // Leaving the loop lets the tool's own finally run.
    if (signal.aborted) break;
    await news.write(piece);
  }
  return [];
}
