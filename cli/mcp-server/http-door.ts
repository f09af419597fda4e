import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import { fail, ok, type Result, thrownText } from "../trouble.ts";
import { sendResponse, webRequest } from "./http-exchange.ts";
import { openHttpSessions, refuse, SESSION_HEADER } from "./http-sessions.ts";
import { mcpServer, tellLists } from "./mcp-server.ts";
import type { Shop } from "./shop.ts";
import type { Visitor } from "./visitor.ts";

/** Largest request that is read, bytes. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Connections at once; more are turned away. */
const CONNECTIONS_MAX = 256;
/** Time in which the first word and all headers must have come: who says nothing holds no connection for long. Milliseconds. */
const HEADERS_LIMIT_MS = 10_000;
/** Time in which all of a request must have come, milliseconds. */
const REQUEST_LIMIT_MS = 30_000;
/** How often it is looked which requests are late, milliseconds. */
const LATE_LOOK_MS = 2_000;
/** Clients without sessions of the protocol that are told apart, by what they call themselves. */
const GUESTS_MAX = 64;
const PATH = "/mcp";

export type HttpPlan = {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly token: string;
  readonly now: () => number;
  readonly newId: () => string;
  readonly openVisitor: () => Visitor;
};

export type HttpDoor = { readonly url: string; close(): Promise<void> };

/** Serves streamable HTTP: clients that begin with "initialize" get sessions, those of 2026-07-28 and later need none. */
export async function openHttpDoor(shop: Shop, plan: HttpPlan): Promise<Result<HttpDoor>> {
  const { host, port, token, now, newId, openVisitor } = plan;
  const sessions = openHttpSessions({
    ...{ bodyLimitBytes: BODY_LIMIT_BYTES, now, newId, openVisitor },
    serverFor(visitor) {
      const server = mcpServer(shop, "legacy", () => visitor);
      tellLists(server, shop.news);
      return server;
    },
  });
  const guests = guestBook(openVisitor);
  const modern = createMcpHandler(() => mcpServer(shop, "modern", guests.visitor), {
    legacy: "reject",
    maxRequestBodySize: BODY_LIMIT_BYTES,
  });
  const tellModern = { tools: "toolsChanged", prompts: "promptsChanged", resources: "resourcesChanged" } as const;
  shop.news.hear((list) => modern.notify[tellModern[list]]());
  const isLoopback = isLoopbackHost(host);
  const origin = `http://${host.includes(":") ? `[${host}]` : host}`;

  /** A page in somebody's browser can reach this port by a name of its own, and sends its own origin. */
  function judge(request: Request): Response | undefined {
    const hosts = [...localhostAllowedHostnames(), host];
    const guarded = isLoopback ? hostHeaderValidationResponse(request, hosts) : undefined;
    const foreign = guarded ?? originValidationResponse(request, [...localhostAllowedOrigins(), host]);
    if (foreign !== undefined) return foreign;
    if (new URL(request.url).pathname !== PATH) return refuse(404, `this server is at ${PATH}`);
    if (sameSecret(request.headers.get("authorization") ?? "", `Bearer ${token}`)) return undefined;
    return refuse(401, "this server needs its token: authorization: Bearer TOKEN", { "www-authenticate": "Bearer" });
  }
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = webRequest(request, response, origin);
    const refusal = judge(asked);
    if (refusal !== undefined) return sendResponse(refusal, response);
    const isOld = await isLegacyRequest(asked, undefined, { maxRequestBodySize: BODY_LIMIT_BYTES });
    if (!isOld) return sendResponse(await modern.fetch(asked), response);
    let sessionId = asked.headers.get(SESSION_HEADER);
    try {
      const old = await sessions.handle(asked);
      sessionId ??= old.headers.get(SESSION_HEADER);
      await sendResponse(old, response);
    } finally {
      sessions.answered(sessionId, asked);
    }
  }
  const server = createServer(
    {
      headersTimeout: HEADERS_LIMIT_MS,
      requestTimeout: REQUEST_LIMIT_MS,
      connectionsCheckingInterval: LATE_LOOK_MS,
    },
    (request, response) => {
      answer(request, response).catch((cause: unknown) => {
        if (response.headersSent) response.destroy();
        else void sendResponse(refuse(400, `the request could not be read: ${thrownText(cause)}`), response);
      });
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  const bound = await new Promise<Result<number>>((resolve) => {
    server.once("error", (cause) => {
      resolve(
        fail("failed", `cannot listen on ${host}:${port}: ${cause.message}`, "choose another port, or 0 for any"),
      );
    });
    server.listen({ host, port }, () => resolve(ok((server.address() as AddressInfo).port)));
  });
  if (!bound.ok) {
    await sessions.close();
    return bound;
  }
  return ok({
    url: `${origin}:${bound.value}${PATH}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      guests.close();
      await Promise.all([sessions.close(), modern.close()]);
      server.closeAllConnections();
      await closed;
    },
  });
}

export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

/** Who comes without a session of the protocol is told apart by what they call themselves. */
function guestBook(openVisitor: () => Visitor): { visitor(client: string): Visitor; close(): void } {
  const guests = new Map<string, Visitor>();
  return {
    visitor(client) {
      const known = guests.get(client);
      // To the end of the line: the one not seen for longest is forgotten first.
      guests.delete(client);
      const visitor = known ?? openVisitor();
      guests.set(client, visitor);
      const [oldest] = guests;
      if (guests.size > GUESTS_MAX && oldest !== undefined) {
        guests.delete(oldest[0]);
        oldest[1].close();
      }
      return visitor;
    },
    close() {
      for (const visitor of guests.values()) visitor.close();
    },
  };
}
