import type { Client } from "@connectrpc/connect";
import type { CallToolResponse, PluginService } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { PluginCore } from "./plugin-core.ts";
import type { ToolNews } from "./plugin-link.ts";

/** The first major: a result is one text, and a failure has no code. */
export function coreOfMajor1(plugin: Client<typeof PluginService>): PluginCore {
  return {
    major: 1,
    async initialize(facts, signal) {
      const { version, tools, features } = await plugin.initialize(facts, { signal });
      return { version, tools: tools.map(({ name }) => name), features };
    },
    listTools: async (signal) => (await plugin.listTools({}, { signal })).tools.map(({ name }) => name),
    configure: (config, signal) => plugin.configure({ config }, { signal }),
    async *callTool(call, signal, timeoutMs) {
      for await (const { news } of plugin.callTool(call, { signal, timeoutMs })) {
        const said = newsOf(news);
        if (said !== undefined) yield said;
      }
    },
    drain: (timeLimitMs) => plugin.drain({ timeLimitMs }, { timeoutMs: timeLimitMs }),
    shutdown: (reason, timeoutMs) => plugin.shutdown({ reason }, { timeoutMs }),
  };
}

function newsOf(news: CallToolResponse["news"]): ToolNews | undefined {
  switch (news.case) {
    case "progress":
      return { kind: "progress", text: news.value };
    case "output":
      return { kind: "output", data: news.value.data };
    case "result": {
      const { isError, text } = news.value;
      const failure = isError
        ? ({ code: "invalid", message: text, hint: "", category: "", retryable: false } as const)
        : undefined;
      return { kind: "result", result: { parts: [{ kind: "text", text }], failure } };
    }
    default:
      return undefined;
  }
}
