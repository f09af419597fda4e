import type { EmbedderChoice, EmbedderWish } from "../memory/embed/choose-embedder.ts";
import { numberOf, type Section, textOf, type Values, type WrongValue } from "./section.ts";

/** What [memory] of config.toml says, checked. Every key is described in docs/config.md. */
export type MemoryConfig = {
  readonly enabled: boolean;
  /** Watches indexed folders, and looks at them again when the daemon starts. */
  readonly autoReindex: boolean;
  /** "builtin", "openai", "gemini", "local", "none", "mock" or "plugin:NAME/ID"; empty for the best there is. */
  readonly embedder: string;
  readonly embeddingModel: string;
  readonly embeddingApiUrl: string;
  readonly embeddingApiKey: string;
  readonly rrf: "weighted" | "unweighted";
  /** Of the vector leg; undefined for the embedder's own. */
  readonly vectorWeight: number | undefined;
  /** A hit this much older than now counts half; 0 turns that off. */
  readonly halfLifeDays: number;
  /** Memory is asked with the person's words before a turn's first model call. */
  readonly recall: boolean;
  readonly recallTokens: number;
  readonly recallNotes: number;
  readonly recallDocuments: number;
  /** Past conversations are indexed. */
  readonly conversations: boolean;
  /** What indexing may put on the disk; 0 for what there is room for. */
  readonly storeLimitBytes: number;
};

const EMBEDDERS = ["builtin", "openai", "gemini", "local", "none", "mock"];
const PLUGIN_EMBEDDER = /^plugin:[A-Za-z][A-Za-z0-9-]*\/[\w.:/@-]{1,128}$/;
/** A leg that counts more than this is the only one. */
const VECTOR_WEIGHT_LIMIT = 100;
const RECALL_LIMIT_TOKENS = 100_000;
const RECALL_LIMIT_HITS = 100;
const RECALL_TOKENS = 1_000;
const RECALL_HITS = 3;
const MEBIBYTE = 1_048_576;

/** [memory]. */
export const MEMORY_SECTION: Section<MemoryConfig> = {
  keys: {
    "memory.enabled": "boolean",
    "memory.auto_reindex": "boolean",
    "memory.embedder": "string",
    "memory.embedding_model": "string",
    "memory.embedding_api_url": "string",
    "memory.embedding_api_key": "string",
    "memory.rrf": "string",
    "memory.vector_weight": "fraction",
    "memory.half_life_days": "fraction",
    "memory.recall": "boolean",
    "memory.recall_tokens": "number",
    "memory.recall_notes": "number",
    "memory.recall_documents": "number",
    "memory.conversations": "boolean",
    "memory.store_limit_mib": "number",
  },
  check,
  read,
};

function check(values: Values): WrongValue | undefined {
  const embedder = values.get("memory.embedder");
  if (typeof embedder === "string" && !isEmbedderName(embedder)) {
    const what = `must be ${EMBEDDERS.map((name) => `"${name}"`).join(", ")} or "plugin:NAME/ID"`;
    return { key: "memory.embedder", what: `${what}, not ${JSON.stringify(embedder)}` };
  }
  const url = values.get("memory.embedding_api_url");
  if (typeof url === "string" && url !== "" && !(/^https?:\/\//i.test(url) && URL.canParse(url))) {
    const what = `must be an address as "http://127.0.0.1:11434/v1", not ${JSON.stringify(url)}`;
    return { key: "memory.embedding_api_url", what };
  }
  const rrf = values.get("memory.rrf");
  if (rrf !== undefined && rrf !== "weighted" && rrf !== "unweighted") {
    return { key: "memory.rrf", what: `must be "weighted" or "unweighted", not ${JSON.stringify(rrf)}` };
  }
  const limits = {
    "memory.vector_weight": VECTOR_WEIGHT_LIMIT,
    "memory.recall_tokens": RECALL_LIMIT_TOKENS,
    "memory.recall_notes": RECALL_LIMIT_HITS,
    "memory.recall_documents": RECALL_LIMIT_HITS,
  };
  for (const [key, limit] of Object.entries(limits)) {
    if (Number(values.get(key) ?? 0) > limit) return { key, what: `must be at most ${limit}, not ${values.get(key)}` };
  }
  return undefined;
}

function isEmbedderName(name: string): boolean {
  return name === "" || EMBEDDERS.includes(name) || PLUGIN_EMBEDDER.test(name);
}

function read(values: Values): MemoryConfig {
  const text = (key: string) => textOf(values, `memory.${key}`);
  const number = (key: string, otherwise: number) => numberOf(values, `memory.${key}`, otherwise);
  const on = (key: string) => values.get(`memory.${key}`) !== false;
  const weight = values.get("memory.vector_weight");
  return {
    enabled: on("enabled"),
    autoReindex: on("auto_reindex"),
    embedder: text("embedder"),
    embeddingModel: text("embedding_model"),
    embeddingApiUrl: text("embedding_api_url"),
    embeddingApiKey: text("embedding_api_key"),
    rrf: text("rrf") === "unweighted" ? "unweighted" : "weighted",
    vectorWeight: typeof weight === "number" ? weight : undefined,
    halfLifeDays: number("half_life_days", 0),
    recall: on("recall"),
    recallTokens: number("recall_tokens", RECALL_TOKENS),
    recallNotes: number("recall_notes", RECALL_HITS),
    recallDocuments: number("recall_documents", RECALL_HITS),
    conversations: on("conversations"),
    storeLimitBytes: number("store_limit_mib", 0) * MEBIBYTE,
  };
}

/** Which embedder is wished for: the environment comes before the file, as everywhere. With memory off, no text goes anywhere. */
export function embedderWish(config: MemoryConfig, env: NodeJS.ProcessEnv): EmbedderWish {
  return {
    embedder: config.enabled ? config.embedder : "none",
    model: env.EMBEDDING_MODEL || config.embeddingModel,
    apiUrl: env.EMBEDDING_API_URL || config.embeddingApiUrl,
    apiKey: env.EMBEDDING_API_KEY || config.embeddingApiKey,
    openai: { apiKey: env.OPENAI_API_KEY ?? "", baseUrl: env.OPENAI_BASE_URL ?? "" },
    gemini: { apiKey: env.GOOGLE_API_KEY ?? "", baseUrl: env.GOOGLE_BASE_URL ?? "" },
    local: { baseUrl: env.LOCAL_BASE_URL ?? "" },
  };
}

/** For the log: who makes vectors, and what is missing for a better one. */
export function tellEmbedder(choice: EmbedderChoice, wish: EmbedderWish): string {
  switch (choice.kind) {
    case "asked":
      return `memory: vectors come from ${choice.embedder.id}`;
    case "none":
      if (choice.problem === undefined) return "memory: searches by words alone, as [memory] embedder says";
      return `memory: ${choice.problem.message}; ${choice.problem.hint ?? ""}`;
    case "computed": {
      const lacking = wish.embedder === "" ? ": there is no OPENAI_API_KEY, EMBEDDING_API_KEY or GOOGLE_API_KEY" : "";
      return `memory: vectors come from the embedder "${choice.name}"${lacking}`;
    }
  }
}
