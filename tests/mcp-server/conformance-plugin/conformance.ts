import { setTimeout as pause } from "node:timers/promises";
import { servePlugin, slashCommand, type ToolContext, tool } from "clawd/plugin";

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const SILENCE = Buffer.from("UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=", "base64");

const simpleText = tool({ name: "simple_text", run: async () => "This is a simple text response for testing." });

const failing = tool({
  name: "failing",
  run: async () => {
    throw new Error("This tool intentionally returns an error for testing");
  },
});

const progress = tool({
  name: "progress",
  run: async (_args, { progress: tell }) => {
    // Lines that come faster than a person reads are told as one.
    for (const step of ["begun", "half done", "done"]) {
      tell(step);
      await pause(300);
    }
    return "Told all of it.";
  },
});

const schema = tool({ name: "schema", run: async () => "It fits." });

const image = tool({
  name: "image",
  run: async (_args, { host }) => [{ artifact: (await host.artifacts.write(PIXEL, { mimeType: "image/png" })).id }],
});

const audio = tool({
  name: "audio",
  run: async (_args, { host }) => [{ artifact: (await host.artifacts.write(SILENCE, { mimeType: "audio/wav" })).id }],
});

const resource = tool({
  name: "resource",
  run: async (_args, { host }) => [
    { artifact: (await host.artifacts.write("a resource", { mimeType: "text/plain" })).id },
  ],
});

const mixed = tool({
  name: "mixed",
  run: async (_args, { host }) => [
    "A picture:",
    { artifact: (await host.artifacts.write(PIXEL, { mimeType: "image/png" })).id },
    "and its data:",
    { artifact: (await host.artifacts.write('{"wide":1}', { mimeType: "application/json" })).id },
  ],
});

type Form = Parameters<ToolContext["host"]["ask"]>[1] & object;
const words = (properties: Record<string, Form>) => ({ type: "object", properties });
const titled = (...values: string[]) => values.map((value) => ({ const: value, title: `Choice ${value}` }));

const FORMS = {
  ask: words({ username: { type: "string" }, email: { type: "string" } }),
  ask_defaults: words({
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  }),
  ask_choices: words({
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: { type: "string", oneOf: titled("value1", "value2", "value3") },
    legacyEnum: { type: "string", enum: ["opt1", "opt2"], enumNames: ["Option One", "Option Two"] },
    untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
    titledMulti: { type: "array", items: { anyOf: titled("value1", "value2", "value3") } },
  }),
};

const forms = Object.entries(FORMS).map(([name, form]) =>
  tool({
    name,
    run: async (_args, { host }) => {
      const said = await host.ask("What shall it be?", form);
      return said.yes ? `They said ${JSON.stringify(said.content)}` : "They said no";
    },
  }),
);

const greet = slashCommand({
  name: "conformance-greet",
  run: async ({ args }) => ({ say: `Greet the tester. ${args}` }),
});

const tools = [simpleText, failing, progress, schema, image, audio, resource, mixed, ...forms];
await servePlugin({ name: "conformance", version: "1.0.0", tools, slashCommands: [greet] });
