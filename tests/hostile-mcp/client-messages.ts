import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/server";
import { seededBelow } from "../kit/seeded.ts";
import { openMutator } from "./mutate.ts";

/** `legacy` begins with "initialize"; `modern` says with each request who it is. */
export type Era = "legacy" | "modern";

const CLIENT = { name: "stranger", version: "1" };
export const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: { elicitation: {} }, clientInfo: CLIENT },
};
const ENVELOPE = {
  [PROTOCOL_VERSION_META_KEY]: "2026-07-28",
  [CLIENT_INFO_META_KEY]: CLIENT,
  [CLIENT_CAPABILITIES_META_KEY]: { elicitation: {} },
};
const ANSWERS = [{ action: "decline" }, { action: "accept", content: {} }, { action: "cancel" }];
const call = (name: string, args: object) => ({ method: "tools/call", params: { name, arguments: args } });
const read = call("read", { path: "notes.md" });

/** Answers to what no server asked: one to a real question that cannot be read leaves it open to everybody else, by design. */
const STRAY_ID = 1_000_000;
/** What clients ask, calls of tools more often than the rest. */
const REQUESTS: readonly { readonly method: string; readonly params?: object }[] = [
  ...[read, read, call("list", { path: "." }), call("grep", { pattern: "house", path: "." })],
  ...[call("write", { path: "out.txt", content: "x" }), call("shell", { command: "echo hi" }), call("no_such", {})],
  call("clawd_say", { text: "hello" }),
  call("memory_search", { query: "blue" }),
  { ...read, params: { ...read.params, _meta: { progressToken: "p1" } } },
  ...[INITIALIZE, { method: "ping" }, { method: "server/discover" }],
  ...[{ method: "tools/list" }, { method: "tools/list", params: { cursor: "2" } }],
  ...[{ method: "resources/list" }, { method: "resources/list", params: { cursor: "50" } }],
  { method: "resources/templates/list" },
  { method: "resources/read", params: { uri: "clawd://session/none" } },
  { method: "resources/read", params: { uri: "clawd://note/../../etc/passwd" } },
  { method: "resources/read", params: { uri: "clawd://artifact/s/a" } },
  { method: "resources/subscribe", params: { uri: "clawd://session/none" } },
  { method: "resources/unsubscribe", params: { uri: "clawd://session/none" } },
  { method: "prompts/list" },
  { method: "prompts/get", params: { name: "none", arguments: { args: "x" } } },
  {
    method: "completion/complete",
    params: { ref: { type: "ref/resource", uri: "clawd://session/{id}" }, argument: { name: "id", value: "a" } },
  },
  { method: "logging/setLevel", params: { level: "debug" } },
  { method: "tasks/get", params: { taskId: "none" } },
  { method: "no/such" },
];

export type ClientMessages = {
  /** The next bytes, lines and parts of them: about one in eight is what a client should say. */
  next(): Buffer;
  /** A good request under an id of its own, never cancelled: a call of a tool, or one that costs nothing. */
  good(id: string, what?: "call" | "ping"): Buffer;
  /** An answer to a question of the server's. */
  answer(id: unknown): Buffer;
  /** Comes back to what waits for an answer with a call that is another one: that gives it up. */
  comeBack(id: string, requestState: string): Buffer;
};

/** What a client says that means harm or is broken; the same for the same seed. */
export function openClientMessages(seed: number, era: Era): ClientMessages {
  const mutate = openMutator(seed);
  const below = seededBelow(seed + 1);
  let ids = 0;

  const inEra = ({ method, params = {} }: { method: string; params?: object }) => {
    if (era === "legacy") return { method, params };
    const { _meta = {} } = params as { _meta?: object };
    return { method, params: { ...params, _meta: { ..._meta, ...ENVELOPE } } };
  };
  /** Now and then that of one before, which may be under way. */
  function someId(): number {
    if (below(10) === 0) return 1 + below(ids + 1);
    ids += 1;
    return ids;
  }
  function message(): object {
    switch (below(16)) {
      case 0:
        return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: below(ids + 10) } };
      case 1:
        return { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: below(20), progress: 1 } };
      case 2:
        return { jsonrpc: "2.0", method: "notifications/initialized" };
      case 3:
        return { jsonrpc: "2.0", method: "notifications/roots/list_changed" };
      case 4:
        return { jsonrpc: "2.0", id: STRAY_ID + below(20), result: { action: "accept", content: { yes: true } } };
      case 5:
        return { jsonrpc: "2.0", id: STRAY_ID + below(20), error: { code: -1, message: "no" } };
      default:
        return { jsonrpc: "2.0", id: someId(), ...inEra(REQUESTS[below(REQUESTS.length)] ?? read) };
    }
  }
  return {
    next: () => (below(8) === 0 ? Buffer.from(`${JSON.stringify(message())}\n`) : mutate(message())),
    answer: (id) => Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, result: ANSWERS[below(ANSWERS.length)] })}\n`),
    comeBack(id, requestState) {
      const { method, params } = inEra(read);
      const asked = { jsonrpc: "2.0", id, method, params: { ...params, requestState, inputResponses: {} } };
      return Buffer.from(`\n${JSON.stringify(asked)}\n`);
    },
    good: (id, what = "call") =>
      Buffer.from(
        `\n${JSON.stringify({ jsonrpc: "2.0", id, ...inEra(what === "call" ? read : { method: "ping" }) })}\n`,
      ),
  };
}
