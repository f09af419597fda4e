import type { JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../core/domain/json-object.ts";
import type { LeasedProcess } from "../../sandbox/os/launcher.ts";
import { legacyAnswer, legacyFailure, legacyRequest } from "./json-rpc-hooks.ts";
import { LEGACY_PROTOCOL_VERSION, readLegacyManifest } from "./json-rpc-manifest.ts";
import { openJsonRpcWire, type RpcReply } from "./json-rpc-wire.ts";
import type { LogRing } from "./log-ring.ts";
import { LinkError, type PluginLink, type ToolResult } from "./plugin-link.ts";

/** How long a plugin may take to answer `shutdown`; what follows is the end of its input, which says the same. */
const SHUTDOWN_ANSWER_MS = 250;

export type JsonRpcProcess = Pick<LeasedProcess, "stdin" | "stdout" | "exited">;

/**
 * A legacy plugin: JSON-RPC 2.0, a line each, on its standard input and output. One request at a time, tools and hooks
 * together. It knows no progress, no settings, and nothing of the host's services.
 */
export function openJsonRpcLink(process: JsonRpcProcess, log: Pick<LogRing, "add">): PluginLink {
  let gone = false;
  const wire = openJsonRpcWire(process, (line) => log.add("stdout", line));
  void process.exited.then(() => {
    gone = true;
    wire.close("its process ended");
  });
  const unserved = (what: string) => new LinkError("unserved", `a legacy plugin offers no ${what}`, undefined);
  return {
    wire: "JSON-RPC",
    async initialize(_facts, signal) {
      const reply = await wire.request("initialize", { protocol_version: LEGACY_PROTOCOL_VERSION }, signal);
      if (reply.is === "error") throw new LinkError("refused", `it refused: ${reply.message}`, undefined);
      const manifest = readLegacyManifest(reply.result);
      if (!manifest.ok) throw new LinkError("refused", manifest.failure.message, undefined);
      const { version, tools } = manifest.value;
      return { version, tools: tools.map(({ name }) => name), features: [] };
    },
    listTools: () => Promise.reject(unserved("list of its tools")),
    configure: async () => "unserved",
    async *callTool({ tool, args }, signal) {
      const reply = await wire.request("tool/execute", { name: tool, arguments: args }, signal);
      yield { kind: "result", result: readToolReply(reply) };
    },
    async runHook(event, signal) {
      const request = legacyRequest(event);
      if (request === undefined) return legacyAnswer(event, null);
      const reply = await wire.request(request.method, request.params, signal);
      return reply.is === "error" ? legacyFailure(reply.message) : legacyAnswer(event, reply.result);
    },
    // biome-ignore lint/correctness/useYield: it refuses before there could be anything to give.
    async *generate() {
      throw unserved("models");
    },
    embed: () => Promise.reject(unserved("embedders")),
    // biome-ignore lint/correctness/useYield: it refuses before there could be anything to give.
    async *listDocuments() {
      throw unserved("sources of documents");
    },
    runSlashCommand: () => Promise.reject(unserved("slash commands")),
    // Requests are answered one by one: what runs is over when the host waits for none.
    drain: async () => {},
    async shutdown(_reason, timeoutMs) {
      const limit = AbortSignal.timeout(Math.min(timeoutMs, SHUTDOWN_ANSWER_MS));
      await wire.request("shutdown", {}, limit).catch(() => {});
      // Whatever it said: the end of its input has to follow, which not every legacy plugin can do without.
      return gone;
    },
    answers: async () => !gone,
    close: () => wire.close("the link was closed"),
  };
}

/** `{ success, result }`; anything but text is given as JSON. A refusal is a failure in the plugin's words. */
function readToolReply(reply: RpcReply): ToolResult {
  if (reply.is === "error") return failed(reply.message);
  const { result } = reply;
  if (!isJsonObject(result)) return failed(`the plugin answered ${sayValue(result).slice(0, 200)}, which is no result`);
  const text = sayValue(result.result ?? "");
  return result.success === true ? { parts: [{ kind: "text", text }], failure: undefined } : failed(text);
}

function failed(message: string): ToolResult {
  return {
    parts: [{ kind: "text", text: message }],
    failure: { code: "invalid", message, hint: "", category: "", retryable: false },
  };
}

function sayValue(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
