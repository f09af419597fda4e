// What the conformance suite wants of a server and no plugin has: resources, prompts with more than words, a wish for a model. No library.
import { createInterface } from "node:readline";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (words) => ({ type: "text", text: words });
const user = (content) => ({ role: "user", content });
const waiting = new Map();
const more = [];
let asked = 0;

const ask = (method, params) =>
  new Promise((resolve, reject) => {
    asked += 1;
    waiting.set(`s${asked}`, { resolve, reject });
    send({ id: `s${asked}`, method, params });
  });

// The scheme that one of several servers of this program has to itself, and whether it has a tool with the name of the bridge's own.
const [mine = "", ownReader = ""] = process.argv.slice(2);
const tools = [
  { name: "sample", inputSchema: { type: "object", properties: { prompt: { type: "string" } } } },
  { name: "touch", inputSchema: { type: "object", properties: { uri: { type: "string" } } } },
  { name: "grow", inputSchema: { type: "object" } },
  ...(ownReader === "" ? [] : [{ name: "read_resource", inputSchema: { type: "object" } }]),
];
const prompts = [
  { name: "with-resource", arguments: [{ name: "resourceUri", description: "what to embed", required: true }] },
  { name: "with-image", description: "a picture and a word" },
  { name: "too-long", description: "more than is passed on" },
];
const resources = [
  { uri: "test://static-text", name: "text", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "binary", mimeType: "image/png" },
  { uri: "test://watched-resource", name: "watched", mimeType: "text/plain" },
];

const said = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PIXEL },
  "test://watched-resource": { mimeType: "text/plain", text: "watched" },
};

function read(uri) {
  if (uri === "test://long") return { mimeType: "text/plain", text: "long ".repeat(100_000) };
  if (mine !== "" && uri.startsWith(`${mine}://`)) return { mimeType: "text/plain", text: `${mine} has it` };
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id !== undefined) return { mimeType: "application/json", text: JSON.stringify({ id, templateTest: true }) };
  const found = said[uri];
  if (found === undefined) throw { code: -32002, message: `there is no ${uri}` };
  return found;
}

const calls = {
  async sample({ prompt }) {
    const messages = [{ role: "user", content: text(prompt) }];
    const { content, model } = await ask("sampling/createMessage", { messages, maxTokens: 100 });
    return { content: [text(`${model} says: ${content.text}`)] };
  },
  async touch({ uri }) {
    send({ method: "notifications/resources/updated", params: { uri } });
    return { content: [text("touched")] };
  },
  async grow() {
    more.push({ uri: `test://more/${more.length}`, name: "more" });
    send({ method: "notifications/resources/list_changed" });
    return { content: [text("grown")] };
  },
};

async function answer({ method, params }) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, prompts: {}, completions: {}, resources: { subscribe: true, listChanged: true } },
        serverInfo: { name: "suite", version: "1" },
      };
    case "tools/list":
      return { tools };
    case "tools/call":
      return calls[params.name](params.arguments);
    case "prompts/list":
      return { prompts };
    case "prompts/get": {
      if (params.name === "too-long") return { messages: [user(text("long ".repeat(1_000_000)))] };
      const first =
        params.name === "with-image"
          ? { type: "image", data: PIXEL, mimeType: "image/png" }
          : {
              type: "resource",
              resource: { uri: params.arguments.resourceUri, mimeType: "text/plain", text: "embedded" },
            };
      return { messages: [user(first), { role: "assistant", content: text("I see it.") }, user(text("Look at it."))] };
    }
    case "resources/list":
      return { resources: [...resources, ...more] };
    case "resources/templates/list":
      return {
        resourceTemplates: [
          { uriTemplate: "test://template/{id}/data", name: "by id" },
          ...(mine === "" ? [] : [{ uriTemplate: `${mine}://{path}`, name: "of its own" }]),
        ],
      };
    case "completion/complete": {
      const places = ["paris", "park", "rome"].filter((one) => one.startsWith(params.argument.value));
      const values = [...places, ...Object.values(params.context?.arguments ?? {})];
      return { completion: { values, total: values.length, hasMore: false } };
    }
    case "resources/read":
      return { contents: [{ uri: params.uri, ...read(params.uri) }] };
    case "resources/subscribe":
      read(params.uri);
      return {};
    case "resources/unsubscribe":
      return {};
    default:
      throw { code: -32601, message: `no ${method} here` };
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.method === undefined) {
    const { resolve, reject } = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error === undefined) resolve(message.result);
    else reject(message.error);
    return;
  }
  if (message.id === undefined) return;
  answer(message).then(
    (result) => send({ id: message.id, result }),
    (error) => send({ id: message.id, error: { code: error.code ?? -32603, message: String(error.message) } }),
  );
});
