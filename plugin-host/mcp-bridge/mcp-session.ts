import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { JsonObject } from "@bufbuild/protobuf";
import { Client, type CreateMessageResult, type StandardSchemaV1, type Transport } from "@modelcontextprotocol/client";
import { BRIDGE_VERSION, type BridgeSettings } from "./bridge-settings.ts";
import { isObject } from "./json-object.ts";
import type { Elicited } from "./questions.ts";
import { watchSilence } from "./silence.ts";
import { isWrongWay } from "./transport.ts";
import { createTurns } from "./turns.ts";

/** The lists of a server come in pages; one that never ends is cut off here. */
const MAX_PAGES = 64;
const MAX_LISTED = 10_000;
/** What servers may ask for. */
const CAPABILITIES = { roots: {}, elicitation: { form: {}, url: {} } };
/** Between two lines of progress of a call that are passed on. */
const PROGRESS_PAUSE_MS = 50;
/** A server may take its time to come up: packages are fetched, interpreters are loaded. */
const CONNECT_LIMIT_MS = 25_000;

/** Takes what a server says as it is: what of it can be used is judged where it is used, piece by piece. */
const AS_IT_IS: StandardSchemaV1<unknown, JsonObject> = {
  "~standard": { version: 1, vendor: "clawd", validate: (value) => ({ value: value as JsonObject }) },
};

type Method =
  | "tools/call"
  | "resources/read"
  | "resources/subscribe"
  | "resources/unsubscribe"
  | "prompts/get"
  | "completion/complete"
  | "tools/list"
  | "resources/list"
  | "resources/templates/list"
  | "prompts/list";
type Waiting = { readonly signal?: AbortSignal; readonly onProgress?: (line: string) => void };

/** A connection to one server. */
export type McpSession = {
  /** What it calls itself, for the log. */
  readonly serverName: string;
  /** Which version of the protocol both speak. */
  readonly version: string;
  readonly has: { readonly resources: boolean; readonly subscriptions: boolean; readonly completions: boolean };
  /** Everything of a list, page by page, that stands in `field`; nothing of what it does not have. Throws what the library throws. */
  list(method: Method & `${string}/list`, field: string, waiting?: Waiting): Promise<readonly JsonObject[]>;
  /** `onProgress` hears a line for whoever waits. Throws what the library throws, and `SilenceError`. */
  ask(method: Method, params: JsonObject, waiting?: Waiting): Promise<JsonObject>;
  close(): Promise<void>;
};

export type SessionEvents = {
  /** The connection ended, and nobody closed it. */
  readonly onEnd: () => void;
  /** Its tools or prompts are others now. */
  readonly onChange: () => void;
  readonly onTrouble: (cause: Error) => void;
  /** It tells something, at a level of its own. */
  readonly onLog: (level: string, text: string) => void;
  /** One of its resources changed; an empty address is the list of them. */
  readonly onResource: (uri: string) => void;
  /** It asks the person something. */
  readonly onQuestion: (params: JsonObject) => Promise<Elicited>;
  /** It asks a model; only where its owner allows that. Rejects with what it is told. */
  readonly onSample: (params: JsonObject, signal: AbortSignal) => Promise<CreateMessageResult>;
};

/** Pauses between attempts excuse silence: `onPause` gets to know how. */
export type Pauses = { readonly excuse: Set<(ms: number) => void> };

export async function connectTo(
  settings: BridgeSettings,
  ways: readonly (() => Transport)[],
  events: SessionEvents,
  pauses: Pauses,
): Promise<McpSession> {
  let isClosing = false;
  const client = await dial(settings, ways, (fresh) => {
    fresh.onerror = events.onTrouble;
    hear(fresh, settings, events);
  });
  client.onclose = () => {
    if (!isClosing) events.onEnd();
  };
  const turns = createTurns(settings.atOnce);

  /** One request, in its turn, as long as the server shows signs of life. */
  async function request(
    method: Method,
    params: JsonObject,
    { signal, onProgress }: Waiting = {},
  ): Promise<JsonObject> {
    return turns.run(async () => {
      const watch = watchSilence(settings.silenceMs);
      pauses.excuse.add(watch.excuse);
      let toldAtMs = Number.NEGATIVE_INFINITY;
      const ends = signal === undefined ? [watch.signal] : [watch.signal, signal];
      try {
        return await client.request({ method, params }, AS_IT_IS, {
          signal: AbortSignal.any(ends),
          timeout: settings.callMs,
          onprogress: ({ progress, total, message }) => {
            watch.heard();
            // Whoever waits reads a few lines a second; the others would only be carried through every process to them.
            if (performance.now() - toldAtMs < PROGRESS_PAUSE_MS) return;
            toldAtMs = performance.now();
            onProgress?.(message ?? `${progress}${total === undefined ? "" : ` of ${total}`}`);
          },
        });
      } catch (cause) {
        throw watch.signal.aborted ? watch.signal.reason : cause;
      } finally {
        pauses.excuse.delete(watch.excuse);
        watch.close();
      }
    }, signal);
  }

  const { tools, prompts, resources, completions } = client.getServerCapabilities() ?? {};
  const offered = new Map<string, boolean>([
    ["tools/list", tools !== undefined],
    ["prompts/list", prompts !== undefined],
    ["resources/list", resources !== undefined],
    ["resources/templates/list", resources !== undefined],
  ]);
  return {
    serverName: client.getServerVersion()?.name ?? settings.server,
    version: client.getNegotiatedProtocolVersion() ?? "",
    has: {
      resources: resources !== undefined,
      subscriptions: resources?.subscribe === true,
      completions: completions !== undefined,
    },
    async list(method, field, waiting) {
      if (offered.get(method) !== true) return [];
      const found: JsonObject[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES && found.length < MAX_LISTED; page += 1) {
        const answer = await request(method, cursor === undefined ? {} : { cursor }, waiting);
        const listed = answer[field];
        if (Array.isArray(listed)) found.push(...listed.filter(isObject));
        if (typeof answer.nextCursor !== "string" || answer.nextCursor === "") break;
        cursor = answer.nextCursor;
      }
      return found.slice(0, MAX_LISTED);
    },
    ask: request,
    async close() {
      isClosing = true;
      await client.close();
    },
  };
}

/** What a server may say and ask by itself. */
function hear(client: Client, { roots, samples }: BridgeSettings, events: SessionEvents): void {
  client.setNotificationHandler("notifications/tools/list_changed", () => events.onChange());
  client.setNotificationHandler("notifications/prompts/list_changed", () => events.onChange());
  client.setNotificationHandler("notifications/resources/list_changed", () => events.onResource(""));
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => events.onResource(params.uri));
  client.setNotificationHandler("notifications/message", ({ params: { level, data } }) =>
    events.onLog(level, typeof data === "string" ? data : JSON.stringify(data)),
  );
  client.setRequestHandler("roots/list", () => ({
    roots: roots.map((folder) => ({ uri: pathToFileURL(folder).href, name: basename(folder) })),
  }));
  if (samples)
    client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq }) =>
      events.onSample(params as JsonObject, mcpReq.signal),
    );
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const { action, content } = await events.onQuestion(params as JsonObject);
    // By the schema of its own, of which the host has seen to it that it is flat.
    return content === undefined ? { action } : { action, content: content as Record<string, string> };
  });
}

/** Tries one way after the other as long as the server says that it does not know them. */
async function dial(
  { samples }: BridgeSettings,
  ways: readonly (() => Transport)[],
  prepare: (client: Client) => void,
): Promise<Client> {
  const capabilities = samples ? { ...CAPABILITIES, sampling: {} } : CAPABILITIES;
  for (const [index, way] of ways.entries()) {
    const client = new Client({ name: "clawd", version: BRIDGE_VERSION }, { capabilities });
    prepare(client);
    try {
      await client.connect(way(), { timeout: CONNECT_LIMIT_MS });
      return client;
    } catch (cause) {
      client.onerror = () => {};
      await client.close();
      if (index === ways.length - 1 || !isWrongWay(cause)) throw cause;
    }
  }
  throw new Error("there is no way to a server without one");
}
