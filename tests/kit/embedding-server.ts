import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type EmbeddingRequest = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly model?: string;
    readonly input?: readonly string[];
    readonly requests?: readonly unknown[];
  };
};

/** Writes what a hostile or tired server would; false for the plain answer. */
export type Mischief = (request: EmbeddingRequest, response: ServerResponse, number: number) => boolean;

/** A server that speaks OpenAI's embeddings: texts with the same words have near vectors. */
export type EmbeddingServer = {
  readonly url: string;
  readonly requests: EmbeddingRequest[];
  dimensions: number;
  mischief: Mischief;
  /** All texts that were asked for. */
  texts(): string[];
  close(): Promise<void>;
};

export async function startEmbeddingServer(dimensions = 8): Promise<EmbeddingServer> {
  const server = createServer((incoming, response) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as EmbeddingRequest["body"];
      const request = { path: incoming.url ?? "", headers: incoming.headers, body };
      self.requests.push(request);
      if (self.mischief(request, response, self.requests.length)) return;
      sendJson(response, 200, answerTo(request, self.dimensions));
    });
    incoming.on("error", () => {});
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const self: EmbeddingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    dimensions,
    mischief: () => false,
    texts: () => self.requests.flatMap(({ body }) => body.input ?? []),
    close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      return promise;
    },
  };
  return self;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function answerTo({ path, body }: EmbeddingRequest, dimensions: number): unknown {
  if (path.endsWith(":batchEmbedContents")) {
    const texts = (body.requests as { content: { parts: { text: string }[] } }[]).map(
      ({ content }) => content.parts[0]?.text ?? "",
    );
    return { embeddings: texts.map((text) => ({ values: vectorOf(text, dimensions) })) };
  }
  const data = (body.input ?? []).map((text, index) => ({ index, embedding: vectorOf(text, dimensions) }));
  // The order is the server's own business.
  return { object: "list", model: body.model, data: data.reverse() };
}

/** How often words stand in a text, each at a place of its own. */
export function vectorOf(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0.01);
  for (const word of text.toLowerCase().match(/\w+/g) ?? []) {
    const place = [...word].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 65_521, 7) % dimensions;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
}
