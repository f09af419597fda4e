/**
 * A server of MCP that says, before each good answer, a number of messages that no server should say.
 * Arguments: seed, messages before each answer, "calls" for one that is honest but where its tool is called.
 */
import { createInterface } from "node:readline";
import { seededBelow } from "../kit/seeded.ts";
import { openMutator } from "./mutate.ts";

const [seed = 1, before = 0] = process.argv.slice(2, 4).map(Number);
const isHonest = (method) => process.argv[4] === "calls" && method !== "tools/call";
const mutate = openMutator(seed);
const below = seededBelow(seed + 1);

const rpc = (message) => ({ jsonrpc: "2.0", ...message });
const tool = {
  name: "act",
  title: "Acts",
  description: "Acts.",
  inputSchema: { type: "object", properties: { n: { type: "number" } } },
  annotations: { readOnlyHint: true },
};
const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
};

/** Good answers by method. */
const RESULTS = {
  initialize: { protocolVersion: "2025-06-18", capabilities, serverInfo: { name: "fuzz", version: "1" } },
  "tools/list": { tools: [tool], nextCursor: "" },
  "tools/call": {
    content: [
      { type: "text", text: "done" },
      { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" },
    ],
    structuredContent: { a: [1] },
  },
  "resources/list": { resources: [{ uri: "memo:1", name: "memo", mimeType: "text/plain", size: 3 }] },
  "resources/templates/list": { resourceTemplates: [{ uriTemplate: "memo:{n}", name: "memos" }] },
  "resources/read": { contents: [{ uri: "memo:1", text: "a memo" }] },
  "prompts/list": { prompts: [{ name: "ask", description: "Asks.", arguments: [{ name: "what", required: true }] }] },
};

function* recorded(id, method, token) {
  yield rpc({ id, result: RESULTS[method] ?? {} });
  yield rpc({ id, error: { code: -32603, message: "it broke", data: { why: "so" } } });
  yield rpc({
    method: "notifications/progress",
    params: { progressToken: token, progress: 1, total: 2, message: "half" },
  });
  yield rpc({ method: "notifications/tools/list_changed" });
  yield rpc({ method: "notifications/resources/updated", params: { uri: "memo:1" } });
  yield rpc({ method: "notifications/message", params: { level: "info", logger: "l", data: { said: "x" } } });
  yield rpc({ method: "notifications/cancelled", params: { requestId: id, reason: "no" } });
  yield rpc({
    id: 7_000,
    method: "elicitation/create",
    params: { message: "Who?", requestedSchema: { type: "object", properties: { a: { type: "string" } } } },
  });
  yield rpc({
    id: 7_001,
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text: "x" } }], maxTokens: 10 },
  });
  yield rpc({ id: 7_002, method: "roots/list" });
  yield rpc({ id: 7_003, method: "ping" });
}

for await (const line of createInterface({ input: process.stdin })) {
  let said;
  try {
    said = JSON.parse(line);
  } catch {
    continue;
  }
  const { id, method = "" } = said ?? {};
  if (id === undefined || method === "") continue;
  const all = [...recorded(id, method, said.params?._meta?.progressToken)];
  const chunks = Array.from({ length: isHonest(method) ? 0 : before }, () => mutate(all[below(all.length)]));
  const good = `\n${JSON.stringify(rpc({ id, result: RESULTS[method] ?? {} }))}\n`;
  if (!process.stdout.write(Buffer.concat([...chunks, Buffer.from(good)]))) {
    await new Promise((done) => process.stdout.once("drain", done));
  }
}
