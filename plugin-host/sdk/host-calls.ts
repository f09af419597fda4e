import { connect } from "node:net";
import { fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { HostService, LogLevel as WireLevel } from "../../proto/gen/clawd/plugin/v1/host_pb.ts";
import { MAX_MESSAGE_BYTES, showBearer } from "./bearer.ts";
import type { LogLevel, OfferedCommand, OfferedTool, Recollection, WordsWanted } from "./host-client.ts";

const HOST_TIMEOUT_MS = 30_000;
/** A person, or a tool that a person has to allow, takes its time; the host draws the end. */
const UNHURRIED_TIMEOUT_MS = 24 * 60 * 60_000;
/** The most that one message of an artifact may hold. */
const MAX_ARTIFACT_PIECE_BYTES = 1024 * 1024;

const LEVELS: Readonly<Record<LogLevel, WireLevel>> = {
  debug: WireLevel.DEBUG,
  info: WireLevel.INFO,
  warning: WireLevel.WARNING,
  error: WireLevel.ERROR,
};

/** HostService in plain values. */
export type HostCalls = ReturnType<typeof dialHost>;

/** Opens no connection before the first call. */
export function dialHost(socketPath: string, token: string) {
  const transport = createGrpcTransport({
    baseUrl: "http://host",
    nodeOptions: { createConnection: () => connect(socketPath) },
    interceptors: [showBearer(token)],
    acceptCompression: [],
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
    defaultTimeoutMs: HOST_TIMEOUT_MS,
  });
  const client = createClient(HostService, transport);
  const unhurried = { timeoutMs: UNHURRIED_TIMEOUT_MS };
  return {
    log: async (message: string, level: LogLevel): Promise<void> => {
      await client.log({ level: LEVELS[level], message });
    },
    recall: async (query: string, limit: number): Promise<readonly Recollection[]> =>
      (await client.recall({ query, limit })).hits.map(({ text, source }) => ({ text, source })),
    progress: async (callId: string, text: string): Promise<void> => {
      await client.progress({ callId, text });
    },
    ask: async (callId: string, question: string, requestedSchema: JsonObject | undefined) => {
      const asked = requestedSchema === undefined ? { callId, question } : { callId, question, requestedSchema };
      const { yes, answered, content } = await client.ask(asked, unhurried);
      return content === undefined ? { yes, answered } : { yes, answered, content };
    },
    callTool: async (callId: string, tool: string, args: JsonObject) => {
      const { text, isError } = await client.callTool({ callId, tool, args }, unhurried);
      return { text, isError };
    },
    generate: async (callId: string, { system = "", messages, maxTokens }: WordsWanted, signal?: AbortSignal) => {
      const said = messages.map(({ role, texts }) => ({
        role,
        parts: texts.map((text) => ({ kind: { case: "text" as const, value: text } })),
      }));
      const { text, stop, model, tokens, tokensLeft } = await client.generate(
        { callId, system, messages: said, maxTokens },
        signal === undefined ? unhurried : { ...unhurried, signal },
      );
      return { text, stop, model, tokens, tokensLeft };
    },
    getValue: async (key: string): Promise<JsonValue | undefined> => {
      const { found, value } = await client.getValue({ key });
      if (!found) return undefined;
      return value === undefined ? null : toJson(ValueSchema, value);
    },
    setValue: async (key: string, value: JsonValue): Promise<void> => {
      await client.setValue({ key, value: fromJson(ValueSchema, value) });
    },
    deleteValue: async (key: string): Promise<void> => {
      await client.deleteValue({ key });
    },
    offer: async (tools: readonly OfferedTool[], commands: readonly OfferedCommand[]) => {
      const { names, problems } = await client.offer({
        tools: tools.map((one) => ({ ...one })),
        slashCommands: commands.map(({ takes = [], ...one }) => ({ ...one, arguments: [...takes] })),
      });
      return { names, problems };
    },
    getSecret: async (key: string): Promise<string | undefined> => {
      const { found, value } = await client.getSecret({ key });
      return found ? value : undefined;
    },
    setSecret: async (key: string, value: string): Promise<void> => {
      await client.setSecret({ key, value });
    },
    listKeys: async (prefix: string): Promise<readonly string[]> => (await client.listKeys({ prefix })).keys,
    writeArtifact: async (data: string | Uint8Array, mimeType: string, to: string) => {
      const bytes = typeof data === "string" ? Buffer.from(data) : data;
      let written = { artifactId: to, sizeBytes: 0 };
      // At least one message, so that an empty artifact is one too.
      for (let at = 0; at === 0 || at < bytes.byteLength; at += MAX_ARTIFACT_PIECE_BYTES) {
        const piece = bytes.subarray(at, at + MAX_ARTIFACT_PIECE_BYTES);
        written = await client.writeArtifact({ artifactId: written.artifactId, data: piece, mimeType });
      }
      return { id: written.artifactId, sizeBytes: written.sizeBytes };
    },
    readArtifact: async (artifactId: string, offsetBytes: number, limitBytes: number): Promise<Uint8Array> => {
      const pieces: Uint8Array[] = [];
      let read = 0;
      while (read < limitBytes) {
        const most = Math.min(limitBytes - read, MAX_ARTIFACT_PIECE_BYTES);
        const { data } = await client.readArtifact({
          artifactId,
          offsetBytes: offsetBytes + read,
          limitBytes: most,
        });
        if (data.byteLength === 0) break;
        pieces.push(data);
        read += data.byteLength;
      }
      return Buffer.concat(pieces);
    },
  };
}
