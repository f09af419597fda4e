import { readRequestBody, type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { recentEvents } from "./event-store.ts";
import type { Visitor } from "./visitor.ts";

/** Clients at once that have a session of this protocol. */
const SESSIONS_MAX = 64;
/** A session that nothing was heard of for so long is let go, milliseconds. */
const IDLE_LIMIT_MS = 30 * 60_000;
/** How often that is looked at, milliseconds. */
const LOOK_EVERY_MS = 60_000;
/** When a client that lost a stream may take it up again, milliseconds. */
const RETRY_AFTER_MS = 1_000;
export const SESSION_HEADER = "mcp-session-id";

type Entry = {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedMs: number;
  /** Requests that are being answered, an open stream of news included. */
  busy: number;
  /** Ids of what is being answered: the library would answer the later of two alike, and the earlier never. */
  readonly underWay: Set<unknown>;
};

/** The sessions of clients that begin with "initialize". */
export type HttpSessions = {
  handle(request: Request): Promise<Response>;
  /** Tells the session of a request that it has been answered to the end. */
  answered(sessionId: string | null, request: Request): void;
  close(): Promise<void>;
};

export type HttpSessionsPlan = {
  readonly bodyLimitBytes: number;
  readonly now: () => number;
  readonly newId: () => string;
  readonly openVisitor: () => Visitor;
  readonly serverFor: (visitor: Visitor) => Server;
};

export function openHttpSessions({
  bodyLimitBytes,
  now,
  newId,
  openVisitor,
  serverFor,
}: HttpSessionsPlan): HttpSessions {
  const entries = new Map<string, Entry>();
  const idsOf = new WeakMap<Request, readonly unknown[]>();
  const looking = setInterval(() => {
    for (const { transport, usedMs, busy } of entries.values()) {
      if (busy === 0 && now() - usedMs > IDLE_LIMIT_MS) void transport.close();
    }
  }, LOOK_EVERY_MS);
  looking.unref();

  /** Makes room by letting go of the one that was used longest ago, if it waits for nothing. */
  function makeRoom(): boolean {
    if (entries.size < SESSIONS_MAX) return true;
    const idle = [...entries.values()].filter(({ busy }) => busy === 0).sort((a, b) => a.usedMs - b.usedMs)[0];
    if (idle === undefined) return false;
    void idle.transport.close();
    return entries.size < SESSIONS_MAX;
  }

  async function begin(request: Request): Promise<Response> {
    if (!makeRoom()) return refuse(503, `${SESSIONS_MAX} clients are at work here; try again later`);
    const visitor = openVisitor();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: newId,
      maxRequestBodySize: bodyLimitBytes,
      eventStore: recentEvents(),
      retryInterval: RETRY_AFTER_MS,
      onsessioninitialized: (id) => {
        entries.set(id, { transport, usedMs: now(), busy: 1, underWay: new Set() });
      },
    });
    const server = serverFor(visitor);
    const before = server.onclose;
    server.onclose = () => {
      before?.();
      visitor.close();
      if (transport.sessionId !== undefined) entries.delete(transport.sessionId);
    };
    await server.connect(transport);
    const answer = await transport.handleRequest(request);
    // What was no "initialize" leaves nothing behind.
    if (transport.sessionId === undefined) await server.close();
    return answer;
  }

  return {
    async handle(request) {
      const id = request.headers.get(SESSION_HEADER);
      if (id === null) return begin(request);
      const entry = entries.get(id);
      // By the protocol a client then begins anew.
      if (entry === undefined) return refuse(404, "there is no such session; it has ended, or never was");
      entry.usedMs = now();
      entry.busy += 1;
      const ids = await requestIds(request, bodyLimitBytes);
      if (ids.some((one) => entry.underWay.has(one)))
        return refuse(400, "a request of this id is under way; by the protocol each has an id of its own");
      for (const one of ids) entry.underWay.add(one);
      idsOf.set(request, ids);
      return entry.transport.handleRequest(request);
    },
    answered(sessionId, request) {
      const entry = entries.get(sessionId ?? "");
      if (entry === undefined) return;
      for (const one of idsOf.get(request) ?? []) entry.underWay.delete(one);
      entry.busy -= 1;
      entry.usedMs = now();
    },
    async close() {
      clearInterval(looking);
      await Promise.all([...entries.values()].map(({ transport }) => transport.close()));
    },
  };
}

/** The ids of what a request asks for; none for what the library is going to refuse. */
async function requestIds(request: Request, bodyLimitBytes: number): Promise<readonly unknown[]> {
  if (request.method !== "POST") return [];
  const body = await readRequestBody(request.clone(), bodyLimitBytes);
  if (body.tooLarge) return [];
  try {
    const said: unknown = JSON.parse(body.text);
    return (Array.isArray(said) ? said : [said]).flatMap((one: unknown) =>
      typeof one === "object" && one !== null && "id" in one && "method" in one ? [one.id] : [],
    );
  } catch {
    return [];
  }
}

/** A refusal that clients of this protocol understand. */
export function refuse(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  const body = { jsonrpc: "2.0", id: null, error: { code: -32000, message } };
  return Response.json(body, { status, headers });
}
