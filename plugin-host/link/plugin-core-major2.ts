import { toJsonString } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { FailureCode } from "../../core/domain/failure.ts";
import type {
  CallToolResponse,
  PluginService,
  ResultPart as WirePart,
  ToolResult as WireResult,
} from "../../proto/gen/clawd/plugin/v2/plugin_pb.ts";
import type { PluginCore } from "./plugin-core.ts";
import type { ResultPart, ToolNews, ToolResult } from "./plugin-link.ts";

/** The codes that a plugin may give; any other word counts as the first. */
const CODES: ReadonlySet<string> = new Set<FailureCode>([
  "invalid",
  "not_found",
  "conflict",
  "denied",
  "timed_out",
  "exhausted",
  "unavailable",
]);

/** A word for programs; what is none counts as nothing. */
const CATEGORY = /^[a-z][a-z_]{0,39}$/;

/** The second major: a result is made of parts, and a failure has a code and a next move. */
export function coreOfMajor2(plugin: Client<typeof PluginService>): PluginCore {
  return {
    major: 2,
    async initialize(facts, signal) {
      const { version = "", tools = [], features = [] } = (await plugin.initialize({ facts }, { signal })).facts ?? {};
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
    case "result":
      return { kind: "result", result: resultOf(news.value) };
    default:
      return undefined;
  }
}

function resultOf({ parts, failure }: WireResult): ToolResult {
  const read = parts.map(partOf).filter((part) => part !== undefined);
  if (failure === undefined) return { parts: read, failure: undefined };
  const { code, message, hint, retryable } = failure;
  const category = CATEGORY.test(failure.category) ? failure.category : "";
  // The model reads the parts: a failure without any is told by its message.
  const told: readonly ResultPart[] = read.length === 0 ? [{ kind: "text", text: message }] : read;
  return {
    parts: told,
    failure: { code: CODES.has(code) ? (code as FailureCode) : "invalid", message, hint, category, retryable },
  };
}

function partOf({ part }: WirePart): ResultPart | undefined {
  switch (part.case) {
    case "text":
      return { kind: "text", text: part.value };
    case "json":
      return { kind: "text", text: toJsonString(ValueSchema, part.value) };
    case "artifactId":
      return { kind: "artifact", artifactId: part.value };
    default:
      return undefined;
  }
}
