import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** The version that the bridge and its manifest say; the daemon refuses one that differs. */
export const BRIDGE_VERSION = "1.0.0";

/** What the daemon alone asks of a bridge: tools that no server's are called like. */
export const BEGIN_LOGIN = "clawd/begin-login";
export const FINISH_LOGIN = "clawd/finish-login";
export const LIST_RESOURCES = "clawd/list-resources";
export const FOLLOW_RESOURCES = "clawd/follow-resources";
export const COMPLETE_ARGUMENT = "clawd/complete-argument";
/** The secret in which stands that a server wants a login; the daemon looks whether it is there. */
export const LOGIN_CHALLENGE = "challenge";

/** How a person's login at a server goes. Empty texts are left to the server. */
export type LoginSettings = {
  /** For servers that know clawd already. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** An https address at which the owner describes their clawd to authorization servers. */
  readonly metadataUrl: string;
  readonly scope: string;
  /** Where no person logs in; undefined where one does. */
  readonly ownKey: OwnKey | undefined;
};

/** What proves a program to its authorization server. */
export type OwnKey = {
  /** The authorization server, as it calls itself: no other gets to see the proof. */
  readonly issuer: string;
  /** PKCS #8 as PEM; empty where the client's secret is the proof. */
  readonly privateKey: string;
  /** Of the key, e.g. "ES256". */
  readonly algorithm: string;
};
export type OwnKeySettings = LoginSettings & { readonly ownKey: OwnKey };

/** What one bridge is told at its start: the server, ready to be started or dialled. */
export type BridgeSettings = {
  /** As its owner calls it. */
  readonly server: string;
  readonly transport: "stdio" | "http" | "sse";
  /** Program and arguments; empty for a server that is dialled. */
  readonly command: readonly string[];
  /** Set for its process, over what every process here has. */
  readonly env: Readonly<Record<string, string>>;
  /** Empty for a server that is started. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A request may stay without a sign of life for so long. */
  readonly silenceMs: number;
  /** A call may last so long, whatever signs there are. */
  readonly callMs: number;
  /** Requests that the server gets at once. */
  readonly atOnce: number;
  /** Folders that the server is told of as its roots, absolute. */
  readonly roots: readonly string[];
  /** True where its owner lets the server ask a model. */
  readonly samples: boolean;
  /** Undefined for a server that is started, and for one whose headers say who is there. */
  readonly login: LoginSettings | undefined;
};

export function writeSettings(settings: BridgeSettings): JsonObject {
  const { command, env, headers, roots, login, ...plain } = settings;
  const whole = { ...plain, command: [...command], env: { ...env }, headers: { ...headers }, roots: [...roots] };
  if (login === undefined) return whole;
  const { ownKey, ...texts } = login;
  return { ...whole, login: { ...texts, ...ownKey } };
}

/** Throws when they are not what the house writes. */
export function readSettings(json: JsonObject): BridgeSettings {
  const { server, transport, command, env, url, headers, silenceMs, callMs, atOnce, roots, samples, login } = json;
  if (
    typeof server === "string" &&
    (transport === "stdio" || transport === "http" || transport === "sse") &&
    Array.isArray(command) &&
    typeof url === "string" &&
    typeof silenceMs === "number" &&
    typeof callMs === "number" &&
    typeof atOnce === "number" &&
    typeof samples === "boolean" &&
    Array.isArray(roots)
  ) {
    const texts = { command: command.map(String), env: readTexts(env), headers: readTexts(headers) };
    return {
      server,
      transport,
      url,
      silenceMs,
      callMs,
      atOnce,
      samples,
      roots: roots.map(String),
      login: readLogin(login),
      ...texts,
    };
  }
  throw new Error("the settings of the bridge are not those of this release of clawd");
}

function readLogin(value: JsonValue | undefined): LoginSettings | undefined {
  if (value === undefined) return undefined;
  const { clientId = "", clientSecret = "", metadataUrl = "", scope = "", ...own } = readTexts(value);
  const { issuer = "", privateKey = "", algorithm = "" } = own;
  const ownKey = issuer === "" ? undefined : { issuer, privateKey, algorithm };
  return { clientId, clientSecret, metadataUrl, scope, ownKey };
}

function readTexts(value: JsonValue | undefined): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}
