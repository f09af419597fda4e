import { create, fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  type CallToolResponse,
  CallToolResponseSchema,
  PluginService,
  type ResultPartSchema,
} from "../../proto/gen/clawd/plugin/v2/plugin_pb.ts";
import type { ResultPart } from "./definition.ts";
import type { Routes } from "./grpc-server.ts";
import type { PluginCore } from "./plugin-core.ts";
import type { RunNews } from "./tool-run.ts";

/** PluginService of the second major: a result is made of parts, and a failure has a code. */
export function serveMajor2(router: Routes, core: PluginCore): void {
  router.service(PluginService, {
    initialize: async ({ facts }) => ({ facts: await core.initialize(facts ?? {}) }),
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
      const { parts, failure } = said;
      const value = { parts: parts.map(sayPart), ...(failure === undefined ? {} : { failure }) };
      return news({ news: { case: "result", value } });
    }
  }
}

function sayPart(part: ResultPart): MessageInitShape<typeof ResultPartSchema> {
  if (typeof part === "string") return { part: { case: "text", value: part } };
  if ("json" in part) return { part: { case: "json", value: fromJson(ValueSchema, part.json) } };
  return { part: { case: "artifactId", value: part.artifact } };
}
