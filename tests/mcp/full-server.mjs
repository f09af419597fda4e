// A server of the Model Context Protocol that has and asks for everything; without any library.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (words) => ({ content: [{ type: "text", text: words }] });
const waiting = new Map();
const cancelled = [];
let asked = 0;

/** Asks the client; resolves with its result or its error. */
const ask = (method, params) =>
  new Promise((resolve) => {
    asked += 1;
    waiting.set(`s${asked}`, resolve);
    send({ id: `s${asked}`, method, params });
  });

const FORM = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2 },
    age: { type: "integer", minimum: 0, default: 30 },
    colour: { type: "string", enum: ["red", "blue"] },
  },
  required: ["name", "colour"],
};
const SECRET = { type: "object", properties: { apiKey: { type: "string", title: "Your API key" } } };
const elicit = async (params) => text(JSON.stringify(await ask("elicitation/create", params)));

const calls = {
  form: () => elicit({ message: "who are you?", requestedSchema: FORM }),
  secret: () => elicit({ message: "your key, please", requestedSchema: SECRET }),
  visit: () =>
    elicit({ mode: "url", elicitationId: "e1", message: "confirm there", url: "https://example.com/confirm?a=1" }),
  roots: async () => text(JSON.stringify(await ask("roots/list"))),
  hang: () => new Promise(() => {}),
  cancelled: () => text(cancelled.join(" ")),
};
const tools = Object.keys(calls).map((name) => ({ name, description: name, inputSchema: { type: "object" } }));
const prompts = [
  { name: "greet", description: "greets", arguments: [{ name: "who", required: true }, { name: "how" }] },
];

async function answer({ method, params, id }) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, logging: {} },
        serverInfo: { name: "full", version: "1" },
      };
    case "tools/list":
      return { tools };
    case "prompts/list":
      return { prompts };
    case "prompts/get":
      return {
        messages: [{ role: "user", content: { type: "text", text: `greet ${JSON.stringify(params.arguments)}` } }],
      };
    case "resources/list":
      return params?.cursor === undefined
        ? { resources: [{ uri: "memo:1", name: "first" }], nextCursor: "2" }
        : { resources: [{ uri: "memo:2", name: "second", mimeType: "text/plain" }] };
    case "resources/templates/list":
      return { resourceTemplates: [{ uriTemplate: "memo:{number}", name: "any" }] };
    case "resources/read":
      return { contents: [{ uri: params.uri, text: `text of ${params.uri}` }] };
    case "resources/subscribe":
      send({ method: "notifications/message", params: { level: "warning", data: "a word of mine" } });
      send({ method: "notifications/resources/updated", params: { uri: params.uri } });
      return {};
    case "tools/call":
      if (params.name === "hang") cancelled.push(`id ${id}`);
      return calls[params.name]();
    default:
      return { error: { code: -32601, message: `no ${method}` } };
  }
}

async function hear(line) {
  const message = JSON.parse(line);
  if (message.method === undefined) return waiting.get(message.id)?.(message.result ?? message.error);
  if (message.method === "notifications/cancelled") return cancelled.push(`cancelled ${message.params.requestId}`);
  if (message.id === undefined) return;
  const result = await answer(message);
  send(result?.error === undefined ? { id: message.id, result } : { id: message.id, error: result.error });
}

createInterface({ input: process.stdin }).on("line", (line) => void hear(line));
