import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type CallToolResponse,
  CallToolResponseSchema,
  PluginService,
} from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { ResultPart } from "./definition.ts";
import type { Routes } from "./grpc-server.ts";
import type { PluginCore } from "./plugin-core.ts";
import type { RunNews } from "./tool-run.ts";

/** PluginService of the first major: a result is one text. */
export function serveMajor1(router: Routes, core: PluginCore): void {
  router.service(PluginService, {
    initialize: (facts) => core.initialize(facts),
    configure: ({ config }) => core.configure(config),
    listTools: () => ({ tools: core.tools() }),
    async *callTool(request, { signal }) {
      for await (const news of core.callTool(request, signal)) yield sayNews(news);
    },
    drain: ({ timeLimitMs }) => core.drain(timeLimitMs).then(() => ({})),
    shutdown() {
      core.shutdown();
      return {};
    },
  });
}

function sayNews(said: RunNews): CallToolResponse {
  const news = (value: MessageInitShape<typeof CallToolResponseSchema>) => create(CallToolResponseSchema, value);
  switch (said.kind) {
    case "progress":
      return news({ news: { case: "progress", value: said.text } });
    case "output":
      return news({ news: { case: "output", value: { data: said.data } } });
    case "result": {
      const text = said.parts.map(textOf).join("\n");
      return news({ news: { case: "result", value: { isError: said.failure !== undefined, text } } });
    }
  }
}

function textOf(part: ResultPart): string {
  if (typeof part === "string") return part;
  return "json" in part ? JSON.stringify(part.json) : `[artifact ${part.artifact}]`;
}
