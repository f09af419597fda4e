import type { JsonObject } from "@bufbuild/protobuf";
import {
  type AuthProvider,
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { Host } from "../sdk/plugin.ts";
import { BEGIN_LOGIN, FINISH_LOGIN, LOGIN_CHALLENGE, type LoginSettings } from "./bridge-settings.ts";

/** A login that nobody ends is forgotten: its code would have lapsed, too. */
const LOGIN_LIMIT_MS = 10 * 60_000;

export type LoginParts = {
  readonly serverUrl: string;
  readonly settings: LoginSettings;
  /** Where everything is kept: the daemon's, never a file of the server's or of this process. */
  readonly secrets: Host["secrets"];
  readonly fetch: FetchLike;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** Unguessable. */
  readonly newState: () => string;
};

/** The person's login at one server: OAuth 2.1, authorization code with PKCE, as MCP has it. */
export type Login = {
  /** For transports: the token, and what becomes of a 401. */
  readonly auth: AuthProvider;
  /** What the person is to open; empty when nothing wants a login. Rejects when the server's side cannot be used. */
  begin(redirectUrl: string): Promise<string>;
  /** `query` is what the browser came back with. Rejects when it is not the answer to `begin`. */
  finish(query: string): Promise<void>;
  /** The server wants more than the token has. */
  wantScope(scope: string | undefined, resourceMetadataUrl: string | undefined): Promise<void>;
};

/** Nothing can be had of the server before a person logs in. */
export class LoginWantedError extends Error {
  constructor() {
    super("it wants you to log in");
  }
}

/** What the server said when it wanted a login: kept, so that the login asks for that. */
type Challenge = { readonly scope?: string | undefined; readonly resourceMetadataUrl?: string | undefined };
type KeptClient = { readonly info: StoredOAuthClientInformation; readonly redirectUrl: string };
/** One login under way. */
type Leg = { readonly state: string; readonly endsAtMs: number; redirectUrl: string; verifier: string; opened: string };

const KEYS = { tokens: "tokens", client: "client", challenge: LOGIN_CHALLENGE, discovery: "discovery" } as const;

export function isLoginCall(name: string): boolean {
  return name === BEGIN_LOGIN || name === FINISH_LOGIN;
}

/** What is to be opened, or nothing. Rejects as `begin` and `finish` do. */
export async function runLoginCall(login: Login, name: string, args: JsonObject): Promise<string> {
  if (name === BEGIN_LOGIN) return login.begin(String(args.redirectUrl));
  await login.finish(String(args.query));
  return "";
}

export async function openLogin(parts: LoginParts): Promise<Login> {
  const { secrets, settings, serverUrl } = parts;
  const read = async <T>(key: string): Promise<T | undefined> => {
    const text = await secrets.get(key);
    // Written by this class of process alone, into the daemon's store.
    return text === undefined ? undefined : (JSON.parse(text) as T);
  };
  const keep = (key: string, value: unknown) => secrets.set(key, value === undefined ? "" : JSON.stringify(value));
  let tokens = await read<StoredOAuthTokens>(KEYS.tokens);
  let client = await read<KeptClient>(KEYS.client);
  let challenge = await read<Challenge>(KEYS.challenge);
  let discovery = await read<OAuthDiscoveryState>(KEYS.discovery);
  let leg: Leg | undefined;

  async function challenged(next: Challenge | undefined): Promise<void> {
    const isSame = JSON.stringify(next) === JSON.stringify(challenge);
    challenge = next;
    if (!isSame) await keep(KEYS.challenge, next);
  }

  async function forget(what: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    if (what === "all" || what === "tokens") {
      tokens = undefined;
      await keep(KEYS.tokens, undefined);
    }
    if (what === "all" || what === "client") {
      client = undefined;
      await keep(KEYS.client, undefined);
    }
    if (what === "all" || what === "discovery") {
      discovery = undefined;
      await keep(KEYS.discovery, undefined);
    }
  }

  const provider: OAuthClientProvider = {
    get redirectUrl() {
      return leg?.redirectUrl ?? client?.redirectUrl ?? "http://127.0.0.1/callback";
    },
    ...(settings.metadataUrl === "" ? {} : { clientMetadataUrl: settings.metadataUrl }),
    get clientMetadata() {
      return {
        client_name: "clawd",
        redirect_uris: [String(this.redirectUrl)],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        ...(settings.scope === "" ? {} : { scope: settings.scope }),
      };
    },
    state: () => leg?.state ?? "",
    clientInformation() {
      const { clientId, clientSecret } = settings;
      if (clientId !== "")
        return { client_id: clientId, ...(clientSecret === "" ? {} : { client_secret: clientSecret }) };
      return client?.info;
    },
    async saveClientInformation(info) {
      // What the owner wrote down stays as it is.
      if (settings.clientId !== "") return;
      client = { info, redirectUrl: String(this.redirectUrl) };
      await keep(KEYS.client, client);
    },
    tokens: () => tokens,
    async saveTokens(next) {
      // A server that gives no new refresh token means the old one.
      const refresh = next.refresh_token ?? tokens?.refresh_token;
      tokens = refresh === undefined ? next : { ...next, refresh_token: refresh };
      await keep(KEYS.tokens, tokens);
    },
    redirectToAuthorization(url) {
      if (leg === undefined) throw new LoginWantedError();
      leg.opened = url.href;
    },
    saveCodeVerifier(verifier) {
      if (leg !== undefined) leg.verifier = verifier;
    },
    codeVerifier: () => leg?.verifier ?? "",
    invalidateCredentials: forget,
    discoveryState: () => discovery,
    async saveDiscoveryState(state) {
      discovery = state;
      // Where it is asked again; what it says of itself may change.
      const { authorizationServerUrl, resourceMetadataUrl } = state;
      await keep(KEYS.discovery, { authorizationServerUrl, resourceMetadataUrl });
    },
  };
  const options = () => ({
    serverUrl,
    fetchFn: parts.fetch,
    ...(challenge?.scope === undefined ? {} : { scope: challenge.scope }),
    ...(challenge?.resourceMetadataUrl === undefined
      ? {}
      : { resourceMetadataUrl: new URL(challenge.resourceMetadataUrl) }),
  });
  /** One refresh for all requests that need it. */
  let refreshing: Promise<unknown> | undefined;

  return {
    auth: {
      token: async () => tokens?.access_token,
      async onUnauthorized({ response }) {
        const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
        const wanted = { scope, resourceMetadataUrl: resourceMetadataUrl?.href };
        if (tokens?.refresh_token !== undefined && leg === undefined) {
          refreshing ??= auth(provider, options()).finally(() => {
            refreshing = undefined;
          });
          try {
            await refreshing;
            return;
          } catch (cause) {
            console.error(
              `warning: its token could not be refreshed: ${cause instanceof Error ? cause.message : String(cause)}`,
            );
          }
        }
        await challenged(wanted);
        throw new LoginWantedError();
      },
    },
    async begin(redirectUrl) {
      if (challenge === undefined && tokens === undefined) return "";
      // Its registration says where browsers are sent back to.
      if (client !== undefined && client.redirectUrl !== redirectUrl && client.info.client_id !== settings.metadataUrl)
        await forget("client");
      await forget("discovery");
      leg = { state: parts.newState(), endsAtMs: parts.now() + LOGIN_LIMIT_MS, redirectUrl, verifier: "", opened: "" };
      try {
        await auth(provider, { ...options(), forceReauthorization: true });
        return leg.opened;
      } catch (cause) {
        leg = undefined;
        throw cause;
      }
    },
    async finish(query) {
      const answer = new URLSearchParams(query);
      if (leg === undefined || parts.now() > leg.endsAtMs)
        throw new Error("there is no login under way, or it took too long");
      if (answer.get("state") !== leg.state) throw new Error("this is not the answer to the login that was begun");
      const refused = answer.get("error");
      const code = answer.get("code");
      try {
        if (refused !== null)
          throw new Error(
            `it refused: ${refused.slice(0, 200)} ${(answer.get("error_description") ?? "").slice(0, 300)}`,
          );
        if (code === null) throw new Error("the browser brought no code");
        const iss = answer.get("iss");
        const done = await auth(provider, { ...options(), authorizationCode: code, ...(iss === null ? {} : { iss }) });
        if (done !== "AUTHORIZED") throw new UnauthorizedError("it gave no token");
        await challenged(undefined);
      } finally {
        leg = undefined;
      }
    },
    wantScope: (scope, resourceMetadataUrl) =>
      challenged({ scope: computeScopeUnion(tokens?.scope, challenge?.scope, scope), resourceMetadataUrl }),
  };
}
