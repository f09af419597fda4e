/** How one kind of service is spoken to. */
export type EmbeddingWire = {
  /** Texts that one question may hold. */
  readonly limitTexts: number;
  headers(apiKey: string): Readonly<Record<string, string>>;
  question(model: string, texts: readonly string[], kind: "query" | "document"): unknown;
  /** The vectors of an answer in the order of the texts, or in words what is wrong with it. */
  vectors(answer: unknown, wanted: number): readonly Float32Array[] | string;
};

/** OpenAI's embeddings, which nearly every other server speaks too. */
export const OPENAI_WIRE: EmbeddingWire = {
  limitTexts: 128,
  headers: (apiKey) => (apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }),
  question: (model, texts) => ({ model, input: texts }),
  vectors(answer, wanted) {
    const data = fieldOf(answer, "data");
    if (!Array.isArray(data)) return `has no list "data"`;
    if (data.length !== wanted) return countProblem(data.length, wanted);
    const vectors: (Float32Array | undefined)[] = new Array(wanted).fill(undefined);
    for (const [place, item] of data.entries()) {
      const index = fieldOf(item, "index") ?? place;
      if (typeof index !== "number" || !(index in vectors) || vectors[index] !== undefined) {
        return `names the text ${JSON.stringify(index)}, which is unknown or there twice`;
      }
      const vector = readVector(fieldOf(item, "embedding"));
      if (typeof vector === "string") return vector;
      vectors[index] = vector;
    }
    return vectors.filter((vector) => vector !== undefined);
  },
};

/** Google's Gemini: `models/MODEL:batchEmbedContents`. */
export const GEMINI_WIRE: EmbeddingWire = {
  limitTexts: 100,
  headers: (apiKey) => ({ "x-goog-api-key": apiKey }),
  question: (model, texts, kind) => ({
    requests: texts.map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      taskType: kind === "query" ? "RETRIEVAL_QUERY" : "RETRIEVAL_DOCUMENT",
    })),
  }),
  vectors(answer, wanted) {
    const list = fieldOf(answer, "embeddings");
    if (!Array.isArray(list)) return `has no list "embeddings"`;
    if (list.length !== wanted) return countProblem(list.length, wanted);
    const vectors: Float32Array[] = [];
    for (const item of list) {
      const vector = readVector(fieldOf(item, "values"));
      if (typeof vector === "string") return vector;
      vectors.push(vector);
    }
    return vectors;
  },
};

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function countProblem(given: number, wanted: number): string {
  return `holds ${given} vectors for ${wanted} texts`;
}

/** Numbers, or base64 of little-endian float32, which some servers send unasked. */
function readVector(value: unknown): Float32Array | string {
  if (typeof value === "string") {
    const bytes = Buffer.from(value, "base64");
    if (bytes.byteLength === 0 || bytes.byteLength % 4 !== 0) return "holds a vector that cannot be read";
    const read = Float32Array.from({ length: bytes.byteLength / 4 }, (_, at) => bytes.readFloatLE(at * 4));
    return read.every(Number.isFinite) ? read : NO_NUMBER;
  }
  if (!Array.isArray(value) || value.length === 0) return "holds a text without a vector";
  if (!value.every((item) => typeof item === "number")) return NO_NUMBER;
  const vector = Float32Array.from(value);
  // Also what float32 has no room for.
  return vector.every(Number.isFinite) ? vector : NO_NUMBER;
}

const NO_NUMBER = "holds a vector with something that is no number";
