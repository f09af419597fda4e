import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { InitializeRequest } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { PluginDefinition } from "./definition.ts";
import { atMost, type Running } from "./running.ts";
import { type RunNews, runTool, type ToolRequest } from "./tool-run.ts";

/** What the host says of itself and of the grant; a host may leave all of it out. */
type Introduction = Partial<Pick<InitializeRequest, "config" | "granted" | "dataFolder">>;

/** What every major of PluginService says in its own messages. */
export type PluginCore = {
  initialize(facts: Introduction): Promise<{ version: string; tools: { name: string }[] }>;
  configure(config: JsonObject | undefined): Promise<{ problem: string; restartRequired: boolean }>;
  tools(): { name: string }[];
  callTool(request: ToolRequest, signal: AbortSignal): AsyncIterable<RunNews>;
  drain(timeLimitMs: number): Promise<void>;
  shutdown(): void;
};

export function createCore(plugin: PluginDefinition, running: Running, onShutdown: () => void): PluginCore {
  const tools = new Map((plugin.tools ?? []).map((one) => [one.name, one]));
  const names = () => [...tools.keys()].map((name) => ({ name }));
  return {
    async initialize({ config = {}, granted = [], dataFolder = "" }) {
      try {
        await plugin.configure?.(config, running.line.host);
      } catch (cause) {
        throw new ConnectError(messageOf(cause), Code.FailedPrecondition);
      }
      running.facts = { config, granted, dataFolder: dataFolder === "" ? undefined : dataFolder };
      return { version: plugin.version, tools: names() };
    },
    async configure(config = {}) {
      try {
        const restartRequired = (await plugin.configure?.(config, running.line.host)) === "restart";
        if (!restartRequired) running.facts = { ...running.facts, config };
        return { problem: "", restartRequired };
      } catch (cause) {
        return { problem: messageOf(cause), restartRequired: false };
      }
    },
    tools: names,
    callTool: (request, signal) =>
      runTool(
        tools.get(request.tool) ?? plugin.findTool?.(request.tool),
        request,
        running,
        AbortSignal.any([signal, running.gone]),
      ),
    async drain(timeLimitMs) {
      running.work.refuseMore();
      await atMost(timeLimitMs, running.work.idle());
    },
    shutdown() {
      running.work.refuseMore();
      onShutdown();
    },
  };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error && cause.message !== "" ? cause.message : String(cause);
}
