import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of MCP and the authorization server that it trusts, on one port of the loopback; without any library. */
export type LoginServer = {
  readonly url: string;
  /** Every token that it ever gave. */
  readonly given: readonly string[];
  /** What was asked of its token endpoint, by kind of grant. */
  readonly grants: readonly string[];
  /** No access token counts any more. */
  expire(): void;
  /** Nor does any refresh token. */
  revoke(): void;
  close(): Promise<void>;
};

type Code = { readonly challenge: string; readonly redirectUri: string };

export async function openLoginServer(): Promise<LoginServer> {
  const access = new Set<string>();
  const refresh = new Set<string>();
  const given: string[] = [];
  const grants: string[] = [];
  const codes = new Map<string, Code>();
  let base = "";

  function issue(): object {
    const tokens = { access_token: `access-${randomUUID()}`, refresh_token: `refresh-${randomUUID()}` };
    access.add(tokens.access_token);
    refresh.add(tokens.refresh_token);
    given.push(tokens.access_token, tokens.refresh_token);
    return { ...tokens, token_type: "Bearer", expires_in: 3600 };
  }

  function answerToken(form: URLSearchParams): object | undefined {
    grants.push(form.get("grant_type") ?? "");
    if (form.get("grant_type") === "refresh_token")
      return refresh.delete(form.get("refresh_token") ?? "") ? issue() : undefined;
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const proof = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    return code?.challenge === proof && code.redirectUri === form.get("redirect_uri") ? issue() : undefined;
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const back = new URL(query.get("redirect_uri") ?? "");
    const code = randomUUID();
    codes.set(code, { challenge: query.get("code_challenge") ?? "", redirectUri: back.href });
    back.searchParams.set("code", code);
    back.searchParams.set("state", query.get("state") ?? "");
    response.writeHead(302, { location: back.href }).end();
  }

  function serveMcp(request: IncomingMessage, body: string, response: ServerResponse): void {
    const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const where = `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource"`;
    if (!access.has(token)) return void response.writeHead(401, { "www-authenticate": where }).end();
    if (request.method !== "POST") return void response.writeHead(405).end();
    const rpc = JSON.parse(body);
    if (rpc.id === undefined) return void response.writeHead(202).end();
    sendJson(response, 200, { jsonrpc: "2.0", id: rpc.id, result: answerTo(rpc.method) });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { pathname, searchParams } = new URL(request.url ?? "/", base);
    switch (pathname) {
      case "/.well-known/oauth-protected-resource":
        return sendJson(response, 200, { resource: `${base}/mcp`, authorization_servers: [base] });
      case "/.well-known/oauth-authorization-server":
        return sendJson(response, 200, {
          ...{ issuer: base, authorization_endpoint: `${base}/authorize`, token_endpoint: `${base}/token` },
          ...{ registration_endpoint: `${base}/register`, code_challenge_methods_supported: ["S256"] },
          ...{ response_types_supported: ["code"], token_endpoint_auth_methods_supported: ["none"] },
        });
      case "/register":
        return sendJson(response, 201, { ...JSON.parse(body), client_id: "clawd-of-the-test" });
      case "/authorize":
        return authorize(searchParams, response);
      case "/token": {
        const tokens = answerToken(new URLSearchParams(body));
        return tokens === undefined
          ? sendJson(response, 400, { error: "invalid_grant" })
          : sendJson(response, 200, tokens);
      }
      case "/mcp":
        return serveMcp(request, body, response);
      default:
        response.writeHead(404).end();
    }
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${base}/mcp`,
    ...{ given, grants },
    expire: () => access.clear(),
    revoke() {
      access.clear();
      refresh.clear();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function sendJson(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
}

function answerTo(method: string): object {
  if (method === "initialize")
    return {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "private", version: "1" },
    };
  if (method === "tools/list")
    return { tools: [{ name: "look", description: "looks", inputSchema: { type: "object" } }] };
  return { content: [{ type: "text", text: "seen" }] };
}
