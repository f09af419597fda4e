import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type CallToolRequest,
  type CallToolResponse,
  CallToolResponseSchema,
} from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { Host } from "./host-client.ts";
import type { ToolDefinition } from "./plugin.ts";

/** Progress that nobody has read yet; older lines make room for newer ones. */
const MAX_WAITING_LINES = 256;

/**
 * Runs one call: progress lines as they come, then the result. What the tool throws becomes a result that is an error.
 * Ends without a result when the call is cancelled, even if the tool does not listen to its signal.
 */
export async function* runTool(
  definition: ToolDefinition | undefined,
  request: CallToolRequest,
  host: Host,
  signal: AbortSignal,
): AsyncGenerator<CallToolResponse> {
  if (definition === undefined) throw new ConnectError(`there is no tool "${request.tool}" here`, Code.NotFound);
  const lines: string[] = [];
  let wake = () => {};
  const progress = (line: string) => {
    if (lines.push(line) > MAX_WAITING_LINES) lines.shift();
    wake();
  };
  const context = { progress, signal, host, callId: request.callId, sessionId: request.sessionId };
  let result: CallToolResponse | undefined;
  const settle = (isError: boolean, text: string) => {
    result = news({ case: "result", value: { isError, text } });
    wake();
  };
  Promise.resolve()
    .then(() => definition.run(request.args ?? {}, context))
    .then(
      (text) => settle(false, text),
      (cause: unknown) => {
        // The model reads the message; the stack is for the author.
        console.error(cause);
        settle(true, cause instanceof Error ? cause.message : String(cause));
      },
    );
  const cancelled = () => wake();
  signal.addEventListener("abort", cancelled, { once: true });
  try {
    while (!signal.aborted) {
      for (let line = lines.shift(); line !== undefined; line = lines.shift())
        yield news({ case: "progress", value: line });
      if (result !== undefined) {
        yield result;
        return;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    signal.removeEventListener("abort", cancelled);
  }
}

function news(value: MessageInitShape<typeof CallToolResponseSchema>["news"]): CallToolResponse {
  return create(CallToolResponseSchema, value === undefined ? {} : { news: value });
}
