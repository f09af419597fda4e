import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmbeddingServer, startEmbeddingServer } from "../../../tests/kit/embedding-server.ts";
import type { Embedder } from "../../domain/embedder.ts";
import { ok } from "../../domain/failure.ts";
import { chooseEmbedder, type EmbedderWish } from "./choose-embedder.ts";

const NOTHING: EmbedderWish = {
  ...{ embedder: "", model: "", apiUrl: "", apiKey: "" },
  openai: { apiKey: "", baseUrl: "" },
  gemini: { apiKey: "", baseUrl: "" },
  local: { baseUrl: "" },
};
const OPENAI_KEY = { openai: { apiKey: "sk-1234", baseUrl: "" } };
const GEMINI_KEY = { gemini: { apiKey: "AIza1234", baseUrl: "" } };
const never = new AbortController().signal;

let server: EmbeddingServer;
beforeEach(async () => {
  server = await startEmbeddingServer(384);
});
afterEach(() => server.close());

const choose = (wish: Partial<EmbedderWish>) => chooseEmbedder({ ...NOTHING, ...wish }, () => [])();

test.each<[string, Partial<EmbedderWish>, string]>([
  ["nothing said", {}, "builtin"],
  ["an OpenAI key", OPENAI_KEY, "openai:text-embedding-3-small"],
  ["a key of its own", { apiKey: "k" }, "openai:text-embedding-3-small"],
  ["a Gemini key", GEMINI_KEY, "gemini:gemini-embedding-001"],
  ["both keys", { ...OPENAI_KEY, ...GEMINI_KEY }, "openai:text-embedding-3-small"],
  ["an address", { apiUrl: "http://127.0.0.1:1" }, "local:127.0.0.1:1/v1/embeddings:text-embedding-3-small"],
  ["a key, but the built-in one named", { ...OPENAI_KEY, embedder: "builtin" }, "builtin"],
  ["a key, but none named", { ...OPENAI_KEY, embedder: "none" }, "no embedder"],
  ["another model", { ...OPENAI_KEY, model: "text-embedding-3-large" }, "openai:text-embedding-3-large"],
  ["the local one", { embedder: "local", local: { baseUrl: "http://h/v1" }, model: "m" }, "local:h/v1/embeddings:m"],
  ["secrets in the address", { apiUrl: "http://u:p@h/v1?key=k" }, "local:h/v1/embeddings:text-embedding-3-small"],
])("with %s", (_name, wish, expected) => {
  const choice = choose(wish);
  const found = choice.kind === "asked" ? choice.embedder.id : choice.kind === "computed" ? choice.name : choice.why;
  expect(found).toBe(expected);
});

test("how long vectors of OpenAI itself are is known before it is asked", () => {
  expect(choose(OPENAI_KEY)).toMatchObject({ embedder: { dimensions: 1536 } });
  expect(choose({ ...OPENAI_KEY, model: "text-embedding-3-large" })).toMatchObject({ embedder: { dimensions: 3072 } });
  expect(choose({ ...OPENAI_KEY, apiUrl: "http://h" })).toMatchObject({ embedder: { dimensions: 0 } });
});

test.each(["", "/", "/v1", "/v1/", "/v1/embeddings", "/api/v1beta2", "/openai", "/my/own/embed", "/v1?version=2"])(
  "the address %j leads to the call",
  async (path) => {
    const choice = choose({ apiUrl: server.url + path, apiKey: "my-own-key", ...OPENAI_KEY });
    if (choice.kind !== "asked") throw new Error("no embedder");
    expect(await choice.embedder.embed(["a"], "document", never)).toMatchObject({ ok: true });
    const expected = new Map([
      ["/v1?version=2", "/v1/embeddings?version=2"],
      ["/my/own/embed", "/my/own/embed"],
      ["/openai", "/openai/embeddings"],
      ["/api/v1beta2", "/api/v1beta2/embeddings"],
    ]);
    expect(server.requests[0]?.path).toBe(expected.get(path) ?? "/v1/embeddings");
    expect(server.requests[0]?.headers.authorization).toBe("Bearer my-own-key");
  },
);

test("Gemini at another address is asked there, with its key in its own header", async () => {
  const gemini = { apiKey: "AIza1234", baseUrl: `${server.url}/v1beta/` };
  const choice = choose({ embedder: "gemini", gemini });
  if (choice.kind !== "asked") throw new Error("no embedder");
  expect(await choice.embedder.embed(["a"], "document", never)).toMatchObject({ ok: true });
  expect(server.requests).toMatchObject([
    { path: "/v1beta/models/gemini-embedding-001:batchEmbedContents", headers: { "x-goog-api-key": "AIza1234" } },
  ]);
});

test.each<[Partial<EmbedderWish>, string, string]>([
  [{ embedder: "openai" }, 'the embedder "openai" has no key', "OPENAI_API_KEY or EMBEDDING_API_KEY"],
  [{ embedder: "gemini" }, 'the embedder "gemini" has no key', "GOOGLE_API_KEY"],
  [{ embedder: "local" }, 'the embedder "local" has no address', "EMBEDDING_API_URL"],
  [{ apiUrl: "localhost:11434" }, '"localhost:11434" is not the address', "EMBEDDING_API_URL"],
  [{ apiKey: "two words" }, "holds characters that no key has", "spaces"],
  [{ embedder: "plugin:far/model" }, 'no embedder "model" of a plugin "far"', "claw plugin list"],
])("%j is a problem that names the next move, and searching goes on by words", (wish, message, hint) => {
  expect(choose(wish)).toMatchObject({
    kind: "none",
    problem: { message: expect.stringContaining(message), hint: expect.stringContaining(hint) },
  });
  expect(choose(wish)).toMatchObject({ problem: { message: expect.stringContaining("searches by words alone") } });
});

test("a plugin's embedder comes and goes with its plugin, under the plugin's name", async () => {
  const embedder: Embedder = {
    id: "openai:text-embedding-3-small",
    dimensions: 2,
    embed: async (texts) => ok(texts.map(() => Float32Array.of(1, 2))),
  };
  let plugins: { plugin: string; embedder: Embedder }[] = [];
  const wish = { ...NOTHING, embedder: "plugin:notes/openai:text-embedding-3-small" };
  const current = chooseEmbedder(wish, () => plugins);
  expect(current().kind).toBe("none");
  plugins = [{ plugin: "other", embedder }];
  expect(current().kind).toBe("none");
  plugins = [{ plugin: "notes", embedder }];
  const choice = current();
  expect(choice).toMatchObject({ kind: "asked", embedder: { id: wish.embedder, dimensions: 2 } });
  expect(current()).toBe(choice);
  const embedded = choice.kind === "asked" ? await choice.embedder.embed(["a"], "query", never) : undefined;
  expect(embedded).toEqual(ok([Float32Array.of(1, 2)]));
  plugins = [];
  expect(current()).toMatchObject({ kind: "none", problem: { code: "unavailable" } });
});
