import { create } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { FailureCode } from "../../core/domain/failure.ts";
import {
  type CallToolResponse,
  EmbedService,
  HookAnswerSchema,
  HookService,
  MemorySourceService,
  ModelService,
  PluginService,
  SlashCommandService,
  type ToolResult as WireResult,
} from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { Health } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { LinkError, type PluginLink, type ToolNews, type ToolResult } from "./plugin-link.ts";

/** The first major, over any transport that Connect has. */
export async function linkMajor1(transport: Transport, wire: string, close: () => void): Promise<PluginLink> {
  // Loaded here: a daemon that calls no plugin needs none of it.
  const { createClient, Code, ConnectError } = await import("@connectrpc/connect");
  const plugin = createClient(PluginService, transport);
  const hooks = createClient(HookService, transport);
  const models = createClient(ModelService, transport);
  const embedders = createClient(EmbedService, transport);
  const sources = createClient(MemorySourceService, transport);
  const commands = createClient(SlashCommandService, transport);
  const health = createClient(Health, transport);

  const KINDS = new Map([
    [Code.Unimplemented, "unserved"],
    [Code.ResourceExhausted, "too large"],
    [Code.DeadlineExceeded, "timed out"],
  ] as const);

  function translate(cause: unknown, signal?: AbortSignal): LinkError {
    const error = ConnectError.from(cause);
    // After a crash the client says "canceled", too: only our own signal makes it a cancel.
    const kind = signal?.aborted === true ? "cancelled" : (KINDS.get(error.code as never) ?? "broken");
    return new LinkError(kind, error.rawMessage, cause);
  }

  async function ask<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      throw translate(cause, signal);
    }
  }

  async function* hear<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
    try {
      yield* stream;
    } catch (cause) {
      throw translate(cause, signal);
    }
  }

  return {
    wire: `${wire}, major 1`,
    async initialize(facts, signal) {
      const { version, tools } = await ask(plugin.initialize(facts, { signal }), signal);
      return { version, tools: tools.map(({ name }) => name) };
    },
    async configure(config, signal) {
      try {
        const { problem, restartRequired } = await plugin.configure({ config }, { signal });
        if (problem !== "") return { problem };
        return restartRequired ? "restart" : "in force";
      } catch (cause) {
        const error = translate(cause, signal);
        if (error.kind === "unserved") return "unserved";
        throw error;
      }
    },
    async *callTool(call, signal) {
      for await (const { news } of hear(plugin.callTool(call, { signal }), signal)) {
        const said = newsOf(news);
        // News of a kind that this host does not know comes from a newer library and is passed over.
        if (said !== undefined) yield said;
      }
    },
    async runHook(event, signal) {
      const { answer } = await ask(hooks.runHook({ event }, { signal }), signal);
      return answer ?? create(HookAnswerSchema);
    },
    generate: (request, signal) => hear(models.generate(request, { signal }), signal),
    embed: ({ embedder, texts, isQuery }, signal) =>
      ask(embedders.embed({ embedder, texts, isQuery }, { signal }), signal),
    listDocuments: (source, signal) => hear(sources.listDocuments({ source }, { signal }), signal),
    runSlashCommand: (request, signal) => ask(commands.runSlashCommand(request, { signal }), signal),
    async drain(timeLimitMs) {
      await plugin.drain({ timeLimitMs }, { timeoutMs: timeLimitMs }).catch(() => {});
    },
    shutdown: (reason, timeoutMs) =>
      plugin.shutdown({ reason }, { timeoutMs }).then(
        () => true,
        () => false,
      ),
    async answers(timeoutMs) {
      try {
        await health.check({}, { timeoutMs });
        return true;
      } catch (cause) {
        // A plugin without the health service is alive too.
        return translate(cause).kind === "unserved";
      }
    },
    close,
  };
}

function newsOf(news: CallToolResponse["news"]): ToolNews | undefined {
  switch (news.case) {
    case "progress":
      return { kind: "progress", text: news.value };
    case "output":
      return { kind: "output", data: news.value.data };
    case "result":
      return { kind: "result", result: resultOf(news.value) };
    default:
      return undefined;
  }
}

function resultOf({ isError, text }: WireResult): ToolResult {
  const code: FailureCode = "invalid";
  return { parts: [{ kind: "text", text }], failure: isError ? { code, message: text, hint: "" } : undefined };
}
