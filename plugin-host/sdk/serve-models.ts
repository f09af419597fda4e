import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type GenerateRequest,
  type GenerateResponseSchema,
  ModelService,
  type ModelPart as WirePart,
} from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { ModelDefinition, ModelPart, ModelRequest } from "./definition.ts";
import type { Routes } from "./grpc-server.ts";
import { contextOf, type Running } from "./running.ts";
import { failureOf } from "./tool-error.ts";

type News = MessageInitShape<typeof GenerateResponseSchema>;

/** Lets the plugin's models answer. */
export function serveModels(router: Routes, models: readonly ModelDefinition[], running: Running): void {
  const byName = new Map(models.map((one) => [one.name, one]));
  router.service(ModelService, {
    async *generate(request, { signal }) {
      const model = byName.get(request.provider);
      if (model === undefined) {
        throw new ConnectError(`there is no model provider "${request.provider}" here`, Code.NotFound);
      }
      const done = running.work.begin();
      try {
        yield* generate(model, request, running, AbortSignal.any([signal, running.gone]));
      } finally {
        done();
      }
    },
  });
}

/** Pieces of text go out at once and are gathered into a whole part, which goes out when something else follows. */
async function* generate(
  model: ModelDefinition,
  request: GenerateRequest,
  running: Running,
  signal: AbortSignal,
): AsyncGenerator<News> {
  let text = "";
  let calls = 0;
  const whole = (): News[] => {
    const gathered = text;
    text = "";
    return gathered === "" ? [] : [part({ case: "text", value: gathered })];
  };
  try {
    for await (const news of model.generate(readRequest(request), contextOf(running, signal))) {
      if (signal.aborted) return;
      if (typeof news === "string") {
        text += news;
        yield { news: { case: "textDelta", value: news } };
        continue;
      }
      yield* whole();
      if ("thinking" in news) yield part({ case: "thinking", value: news.thinking });
      else if ("call" in news) {
        const { tool, args, callId = `call-${++calls}` } = news.call;
        yield part({ case: "call", value: { callId, tool, args } });
      } else return yield { news: { case: "end", value: news.end } };
    }
    yield* whole();
    yield { news: { case: "end", value: {} } };
  } catch (cause) {
    if (signal.aborted) return;
    console.error(cause);
    const { code, message, retryable } = failureOf(cause);
    yield { news: { case: "failure", value: { message, retryable: retryable || code === "unavailable" } } };
  }
}

function part(
  value: NonNullable<
    MessageInitShape<typeof import("../../proto/gen/clawd/plugin/v1/plugin_pb.ts").ModelPartSchema>["part"]
  >,
): News {
  return { news: { case: "part", value: { part: value } } };
}

function readRequest({ model, system, messages, tools, maxTokens }: GenerateRequest): ModelRequest {
  return {
    model,
    system,
    messages: messages.map(({ role, parts }) => ({
      role,
      parts: parts.map(readPart).filter((one) => one !== undefined),
    })),
    tools: tools.map(({ name, description, inputSchema = {} }) => ({ name, description, inputSchema })),
    ...(maxTokens === 0 ? {} : { maxTokens }),
  };
}

function readPart({ part: said }: WirePart): ModelPart | undefined {
  switch (said.case) {
    case "text":
      return { text: said.value };
    case "thinking":
      return { thinking: said.value };
    case "call":
      return { call: { callId: said.value.callId, tool: said.value.tool, args: said.value.args ?? {} } };
    case "result":
      return { result: { callId: said.value.callId, text: said.value.text, isError: said.value.isError } };
    default:
      return undefined;
  }
}
