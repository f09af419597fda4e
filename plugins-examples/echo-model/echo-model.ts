import { type ModelNews, type ModelRequest, model, servePlugin } from "clawd/plugin";

/** Says back what it was told, word by word. A message that begins with the name of a tool becomes a call of that tool. */
async function* generate({ messages, tools, model: name }: ModelRequest): AsyncGenerator<ModelNews> {
  const parts = messages.at(-1)?.parts ?? [];
  const results = parts.flatMap((part) => ("result" in part ? [part.result.text] : []));
  const said = parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
  const [verb = "", ...rest] = said.split(" ");
  const tool = results.length === 0 ? tools.find((one) => one.name === verb) : undefined;
  const answer = tool ? `Calling ${tool.name}.` : results.length > 0 ? results.join("\n") : `${name} heard: ${said}`;
  yield* answer.match(/\S*\s*/g) ?? [];
  if (tool !== undefined) yield { call: { tool: tool.name, args: readArgs(rest.join(" "), tool.inputSchema) } };
}

/** JSON as it is; other words are the first argument that the tool cannot do without. */
function readArgs(text: string, schema: ModelRequest["tools"][number]["inputSchema"]) {
  if (text.startsWith("{")) return JSON.parse(text);
  const [first] = Array.isArray(schema.required) ? schema.required : [];
  return typeof first === "string" ? { [first]: text } : {};
}

await servePlugin({ name: "echo-model", version: "1.0.0", models: [model({ name: "echo-model", generate })] });
