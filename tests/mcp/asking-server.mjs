// A server of the Model Context Protocol that asks for words of its client's model; without any library.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (words) => ({ content: [{ type: "text", text: words }] });
const waiting = new Map();
let capabilities = {};
let asked = 0;

/** Asks the client; resolves with its result or its error. */
const ask = (params) =>
  new Promise((resolve) => {
    asked += 1;
    waiting.set(`s${asked}`, resolve);
    send({ id: `s${asked}`, method: "sampling/createMessage", params });
  });
const words = (said, maxTokens = 50) => ({
  messages: [{ role: "user", content: { type: "text", text: said } }],
  systemPrompt: "sampled",
  maxTokens,
});

const calls = {
  capabilities: () => capabilities,
  once: ({ said = "hello", maxTokens }) => ask(words(said, maxTokens)),
  twice: () => Promise.all([ask(words("one")), ask(words("two"))]),
  picture: () =>
    ask({ messages: [{ role: "user", content: { type: "image", data: "", mimeType: "a/b" } }], maxTokens: 9 }),
  tools: () => ask({ ...words("hello"), tools: [{ name: "x", inputSchema: { type: "object" } }] }),
};
const tools = Object.keys(calls).map((name) => ({ name, description: name, inputSchema: { type: "object" } }));

async function answer({ method, params }) {
  if (method === "initialize") {
    ({ capabilities } = params);
    const serverInfo = { name: "asking", version: "1" };
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools };
  return text(JSON.stringify(await calls[params.name](params.arguments)));
}

async function hear(line) {
  const message = JSON.parse(line);
  if (message.method === undefined) return waiting.get(message.id)?.(message.result ?? message.error);
  if (message.id !== undefined) send({ id: message.id, result: await answer(message) });
}

createInterface({ input: process.stdin }).on("line", (line) => void hear(line));
