import { createClient } from "@connectrpc/connect";
import { PluginAdminService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { ToolCallEnded } from "../../proto/gen/clawd/v1/event_pb.ts";
import { McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import { dial } from "../kit/claw.ts";
import { transportTo } from "./mcp-house.ts";

const UP_LIMIT_MS = 180_000;
/** A server may want more with each call; one that never has enough is given up. */
const MAX_LOGINS = 3;
/** Nobody listens there: this program is browser and listener in one. */
const REDIRECT_URL = "http://127.0.0.1:7/callback";

/** What the official conformance suite wants of a client. */
export type Wanted = {
  readonly scenario: string;
  /** The server that it opened for that. */
  readonly url: string;
  readonly context: Readonly<Record<string, unknown>>;
};

/**
 * The client that the suite tests: a daemon as people have it, the one at the data folder `home`. Rejects when it cannot do what
 * the scenario wants.
 */
export async function behaveAsClient(home: string, { scenario, url, context }: Wanted): Promise<void> {
  const name = scenario.replaceAll(/[^a-z0-9]+/g, "").slice(0, 31);
  const mcp = createClient(McpService, transportTo(home));
  const { sessions } = dial(home);
  const plugins = createClient(PluginAdminService, transportTo(home));

  /** What a person who registered clawd there would write down. */
  async function ownKey(): Promise<object> {
    const { client_id, client_secret, private_key_pem, signing_algorithm } = context;
    const described = new URL(`/.well-known/oauth-protected-resource${new URL(url).pathname}`, url);
    const resource = (await (await fetch(described)).json()) as { authorization_servers: readonly string[] };
    const known = { grant: "client_credentials", client_id, issuer: resource.authorization_servers[0] };
    if (private_key_pem === undefined) return { oauth: { ...known, client_secret } };
    return { oauth: { ...known, private_key: private_key_pem, algorithm: signing_algorithm ?? "ES256" } };
  }

  async function oauthOf(): Promise<object> {
    if (scenario.startsWith("auth/client-credentials-")) return ownKey();
    if (scenario === "auth/basic-cimd")
      return { oauth: { client_metadata_url: "https://conformance-test.local/client-metadata.json" } };
    if (typeof context.client_id !== "string" || typeof context.client_secret !== "string") return {};
    return { oauth: { client_id: context.client_id, client_secret: context.client_secret } };
  }

  /** Its tools when they are known; undefined when it wants a login first. */
  async function learn(): Promise<readonly string[] | undefined> {
    const startedMs = performance.now();
    while (performance.now() - startedMs < UP_LIMIT_MS) {
      const { servers } = await mcp.listServers({});
      const server = servers.find((one) => one.name === name);
      if (server?.waitsFor === "login") return undefined;
      if (server?.heard === true) return server.tools.map((tool) => tool.name);
      if (server?.failure !== undefined) {
        // On a busy machine two programs may not have started within half a minute: no word about the protocol.
        if (!/within (?:its )?30000 ms/.test(server.failure.message)) throw new Error(server.failure.message);
        await plugins.reloadPlugin({ name: server.plugin });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`nothing was heard of ${name} within ${UP_LIMIT_MS} ms`);
  }

  /** A person who says yes to everything that a browser shows them. */
  async function logIn(): Promise<void> {
    const { authorizationUrl } = await mcp.beginLogin({ name, redirectUrl: REDIRECT_URL });
    const answer = await fetch(authorizationUrl, { redirect: "manual" });
    const back = new URL(answer.headers.get("location") ?? "", authorizationUrl);
    await mcp.finishLogin({ name, query: back.search.slice(1) });
  }

  /** Calls a tool in a conversation in which somebody fills in forms with nothing but their defaults. */
  async function call(tool: string, args: object): Promise<ToolCallEnded> {
    const { sessionId } = await sessions.openSession({ workspace: home });
    const news = sessions.subscribe({ sessionId, follow: true, canAnswer: true });
    const said = sessions.say({ sessionId, text: `call ${tool} ${JSON.stringify(args)}`, allow: ["mcp_*"] });
    for await (const { news: one } of news) {
      if (one.case !== "event") continue;
      const { body } = one.value;
      if (body.case === "approvalAsked")
        await sessions.answer({ sessionId, approvalId: body.value.approvalId, allowed: true, content: {} });
      if (body.case === "toolCallEnded") {
        await said;
        return body.value;
      }
      if (body.case === "turnEnded") break;
    }
    throw new Error(`the call of ${tool} did not end`);
  }

  async function behave(): Promise<void> {
    const entry = {
      url,
      allow: ["net=localhost", "net=127.0.0.1"],
      timeout: 60_000,
      trust: true,
      ...(await oauthOf()),
    };
    await mcp.addServers({ servers: { [name]: entry } });
    let tools = await learn();
    let logins = 0;
    for (; tools === undefined && logins < MAX_LOGINS; logins += 1) {
      await logIn();
      tools = await learn();
    }
    for (const tool of tools ?? []) {
      let ended = await call(tool, scenario === "tools_call" ? { a: 5, b: 3 } : {});
      for (; ended.failure?.category === "auth_failure" && logins < MAX_LOGINS; logins += 1) {
        await logIn();
        ended = await call(tool, {});
      }
      if (ended.failure !== undefined) throw new Error(ended.failure.message);
    }
  }

  try {
    await behave();
  } finally {
    await mcp.removeServer({ name });
  }
}
