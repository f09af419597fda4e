import { expect, test } from "vitest";
import { chooseEmbedder } from "../memory/embed/choose-embedder.ts";
import { parseConfig } from "./config.ts";
import { embedderWish, tellEmbedder } from "./memory-settings.ts";

function wishOf(text: string, env: NodeJS.ProcessEnv) {
  const parsed = parseConfig(text, "config.toml");
  if (!parsed.ok) throw new Error(parsed.failure.message);
  expect(parsed.value.problems).toEqual([]);
  return embedderWish(parsed.value.config.memory, env);
}

const FILE = `[memory]
embedder = "plugin:notes/model:v1@2"
embedding_model = "from-file"
embedding_api_url = "https://file.example/v1"
embedding_api_key = "file-key"
vector_weight = 0.5
half_life_days = 30.5
recall = false
`;

test("what the file says of the embedder holds when the environment says nothing", () => {
  expect(wishOf(FILE, {})).toEqual({
    ...{ embedder: "plugin:notes/model:v1@2", model: "from-file" },
    ...{ apiUrl: "https://file.example/v1", apiKey: "file-key" },
    openai: { apiKey: "", baseUrl: "" },
    gemini: { apiKey: "", baseUrl: "" },
    local: { baseUrl: "" },
  });
});

test("the environment comes before the file, but for an empty variable", () => {
  const env = {
    ...{ EMBEDDING_MODEL: "from-env", EMBEDDING_API_URL: "http://127.0.0.1:1", EMBEDDING_API_KEY: "" },
    ...{ OPENAI_API_KEY: "sk-1", OPENAI_BASE_URL: "http://o", GOOGLE_API_KEY: "g", GOOGLE_BASE_URL: "http://g" },
    LOCAL_BASE_URL: "http://l",
  };
  expect(wishOf(FILE, env)).toMatchObject({
    ...{ model: "from-env", apiUrl: "http://127.0.0.1:1", apiKey: "file-key" },
    openai: { apiKey: "sk-1", baseUrl: "http://o" },
    gemini: { apiKey: "g", baseUrl: "http://g" },
    local: { baseUrl: "http://l" },
  });
});

test("with memory turned off no text goes to any embedder", () => {
  expect(wishOf("[memory]\nenabled = false\n", { OPENAI_API_KEY: "sk-1" })).toMatchObject({ embedder: "none" });
});

test("numbers and switches of [memory] are read as they stand there", () => {
  const parsed = parseConfig(FILE, "config.toml");
  const memory = { vectorWeight: 0.5, halfLifeDays: 30.5, recall: false, enabled: true };
  expect(parsed).toMatchObject({ ok: true, value: { config: { memory } } });
});

test.each([
  ["", {}, 'vectors come from the embedder "builtin": there is no OPENAI_API_KEY, EMBEDDING_API_KEY or GOOGLE_API_KEY'],
  ["", { OPENAI_API_KEY: "sk-1" }, "vectors come from openai:text-embedding-3-small"],
  ['[memory]\nembedder = "builtin"', {}, 'vectors come from the embedder "builtin"'],
  ['[memory]\nembedder = "none"', {}, "searches by words alone, as [memory] embedder says"],
  [
    '[memory]\nembedder = "openai"',
    {},
    'the embedder "openai" has no key: memory searches by words alone; set OPENAI_API_KEY',
  ],
])("the log says of %j with %j who makes vectors", (text, env, said) => {
  const wish = wishOf(text, env);
  expect(tellEmbedder(chooseEmbedder(wish, () => [])(), wish)).toContain(`memory: ${said}`);
});
