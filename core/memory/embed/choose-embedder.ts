import type { Embedder } from "../../domain/embedder.ts";
import type { Failure } from "../../domain/failure.ts";
import { GEMINI_WIRE, OPENAI_WIRE } from "./embedding-wire.ts";
import { httpEmbedder } from "./http-embedder.ts";

/** What settings and environment say of the embedder; empty strings for what they do not say. */
export type EmbedderWish = {
  /** "builtin", "openai", "gemini", "local", "none", "mock", "plugin:NAME/ID", or empty for the best there is. */
  readonly embedder: string;
  readonly model: string;
  /** Of the embedder alone; the others are those of a vendor. */
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly openai: { readonly apiKey: string; readonly baseUrl: string };
  readonly gemini: { readonly apiKey: string; readonly baseUrl: string };
  readonly local: { readonly baseUrl: string };
};

/** The embedders of plugins that are turned on at this moment. */
export type PluginEmbedders = () => readonly { readonly plugin: string; readonly embedder: Embedder }[];

export type EmbedderChoice =
  /** Vectors come from a service or a plugin: they cost money or time, and are kept. */
  | { readonly kind: "asked"; readonly embedder: Embedder }
  /** Vectors are computed here, in the pool. */
  | { readonly kind: "computed"; readonly name: "builtin" | "mock" }
  /** There are none; `why` in words, `problem` when another one was wished for. */
  | { readonly kind: "none"; readonly why: string; readonly problem?: Failure };

const OPENAI_BASE_URL = "https://api.openai.com/v1";
const GEMINI_BASE_URL = "https://generativelanguage.googleapis.com";
const OPENAI_MODEL = "text-embedding-3-small";
const GEMINI_MODEL = "gemini-embedding-001";

/** What OpenAI itself serves. Anything else tells with its first answer. */
const OPENAI_DIMENSIONS: ReadonlyMap<string, number> = new Map([
  ["text-embedding-3-small", 1536],
  ["text-embedding-3-large", 3072],
  ["text-embedding-ada-002", 1536],
]);

/**
 * Gives the embedder that is to be used now. A plugin's one comes and goes with its plugin, all others stay; asking is
 * cheap and reaches nobody.
 */
export function chooseEmbedder(wish: EmbedderWish, plugins: PluginEmbedders): () => EmbedderChoice {
  const wanted = wish.embedder === "" ? bestThereIs(wish) : wish.embedder;
  if (!wanted.startsWith(PLUGIN_PREFIX)) {
    const choice = chooseOwn(wanted, wish);
    return () => choice;
  }
  const { plugin, id } = readPluginName(wanted);
  const named = new Map<Embedder, EmbedderChoice>();
  return () => {
    const found = plugins().find((one) => one.plugin === plugin && one.embedder.id === id);
    if (found === undefined) {
      named.clear();
      return missing(`there is no embedder "${id}" of a plugin "${plugin}"`, "claw plugin list shows what there is");
    }
    const known = named.get(found.embedder);
    if (known !== undefined) return known;
    const choice: EmbedderChoice = { kind: "asked", embedder: renamed(found.embedder, wanted) };
    named.clear();
    named.set(found.embedder, choice);
    return choice;
  };
}

const PLUGIN_PREFIX = "plugin:";

/** "plugin:NAME/ID"; an id may hold slashes, a name does not. */
function readPluginName(wanted: string): { readonly plugin: string; readonly id: string } {
  const slash = wanted.indexOf("/");
  return { plugin: wanted.slice(PLUGIN_PREFIX.length, slash), id: wanted.slice(slash + 1) };
}

/** A plugin chooses its ids alone: under its own name it cannot pass for another one's model. */
function renamed(embedder: Embedder, id: string): Embedder {
  const { dimensions } = embedder;
  return { id, dimensions, embed: (texts, kind, signal) => embedder.embed(texts, kind, signal) };
}

function bestThereIs(wish: EmbedderWish): string {
  if (wish.apiUrl !== "" || wish.apiKey !== "" || wish.openai.apiKey !== "") return "openai";
  return wish.gemini.apiKey === "" ? "builtin" : "gemini";
}

function chooseOwn(wanted: string, wish: EmbedderWish): EmbedderChoice {
  switch (wanted) {
    case "builtin":
    case "mock":
      return { kind: "computed", name: wanted };
    case "openai":
      return chooseOpenAi(wish);
    case "local":
      return chooseLocal(wish);
    case "gemini":
      return chooseGemini(wish);
    default:
      return { kind: "none", why: "no embedder" };
  }
}

function chooseOpenAi(wish: EmbedderWish): EmbedderChoice {
  const apiKey = wish.apiKey || wish.openai.apiKey;
  const address = wish.apiUrl || wish.openai.baseUrl || OPENAI_BASE_URL;
  if (apiKey === "" && isOpenAi(address)) {
    const hint = `set OPENAI_API_KEY or EMBEDDING_API_KEY, or embedding_api_key ${THEN_RESTART}`;
    return missing('the embedder "openai" has no key', hint);
  }
  return speakingOpenAi(address, apiKey, wish.model || OPENAI_MODEL);
}

function chooseLocal(wish: EmbedderWish): EmbedderChoice {
  const address = wish.apiUrl || wish.local.baseUrl;
  if (address === "") {
    return missing(
      'the embedder "local" has no address',
      `set EMBEDDING_API_URL, or embedding_api_url ${THEN_RESTART}`,
    );
  }
  return speakingOpenAi(address, wish.apiKey, wish.model || OPENAI_MODEL);
}

function speakingOpenAi(address: string, apiKey: string, model: string): EmbedderChoice {
  const problem = unfit(address, apiKey);
  if (problem !== undefined) return problem;
  const url = embeddingsUrl(address);
  const official = isOpenAi(address);
  const id = official ? `openai:${model}` : `local:${placeOf(url)}:${model}`;
  const dimensions = official ? (OPENAI_DIMENSIONS.get(model) ?? 0) : 0;
  return { kind: "asked", embedder: httpEmbedder({ id, wire: OPENAI_WIRE, url, model, apiKey, dimensions }) };
}

function chooseGemini(wish: EmbedderWish): EmbedderChoice {
  const apiKey = wish.gemini.apiKey || wish.apiKey;
  if (apiKey === "") {
    return missing('the embedder "gemini" has no key', `set GOOGLE_API_KEY, or embedding_api_key ${THEN_RESTART}`);
  }
  const address = wish.apiUrl || wish.gemini.baseUrl || GEMINI_BASE_URL;
  const problem = unfit(address, apiKey);
  if (problem !== undefined) return problem;
  const model = (wish.model || GEMINI_MODEL).replace(/^models\//, "");
  const base = address.replace(/\/+$/, "").replace(/\/v1(?:beta)?$/, "");
  const url = `${base}/v1beta/models/${encodeURIComponent(model)}:batchEmbedContents`;
  const id = base === GEMINI_BASE_URL ? `gemini:${model}` : `gemini:${placeOf(base)}:${model}`;
  return { kind: "asked", embedder: httpEmbedder({ id, wire: GEMINI_WIRE, url, model, apiKey, dimensions: 0 }) };
}

const THEN_RESTART = "under [memory] in config.toml, then restart the daemon with `claw down`";

function missing(what: string, hint: string): EmbedderChoice {
  const problem: Failure = { code: "unavailable", message: `${what}: memory searches by words alone`, hint };
  return { kind: "none", why: what, problem };
}

/** An address or a key that no request could be made with. */
function unfit(address: string, apiKey: string): EmbedderChoice | undefined {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    const hint = `write it as ${OPENAI_BASE_URL} (EMBEDDING_API_URL, or embedding_api_url ${THEN_RESTART})`;
    return missing(`${JSON.stringify(address)} is not the address of an embedding API`, hint);
  }
  if (apiKey === "" || /^[\x21-\x7e]+$/.test(apiKey)) return undefined;
  return missing("the key of the embedding API holds characters that no key has", "check it for spaces and line ends");
}

/** From the address of an API, or of the call itself. */
function embeddingsUrl(address: string): string {
  const url = new URL(address);
  const path = url.pathname.replace(/\/+$/, "");
  if (path === "") url.pathname = "/v1/embeddings";
  else if (/\/(?:v\d+(?:beta\d*)?|openai)$/.test(path)) url.pathname = `${path}/embeddings`;
  return url.href;
}

function isOpenAi(address: string): boolean {
  return URL.canParse(address) && new URL(address).hostname === new URL(OPENAI_BASE_URL).hostname;
}

/** Host and path: what is secret in an address stands elsewhere. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return host + (pathname === "/" ? "" : pathname);
}
