import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { GenerationGrant } from "../../core/domain/generation-grant.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { nearestWord } from "../../core/domain/nearest-word.ts";
import { parsePermission, printPermission } from "../../sandbox/permission/permission.ts";
import type { LoginSettings } from "../mcp-bridge/bridge-settings.ts";
import { expandVariables } from "./expand.ts";
import { readNpx } from "./npx-words.ts";
import type { ReadPackageWords } from "./package-words.ts";
import { readUvx } from "./uvx-words.ts";

/** A tool's full name has 64 characters, of which "mcp_" and "_" take five. */
const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;
const DEFAULT_TIMEOUT_MS = 5_000;
const MAX_TIMEOUT_MS = 10 * 60_000;
const MAX_AT_ONCE = 64;
const MAX_SAMPLING_TOKENS = 1_000_000_000;
const LOGIN_KEY = /^(?:client_id|client_secret|client_metadata_url|scope|grant|issuer|private_key|algorithm)$/;
const KEY_ALGORITHM = /^(?:RS|PS|ES)(?:256|384|512)$|^EdDSA$/;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const HINT = "docs/mcp.md describes every key";
const KEYS = [
  ...["type", "transport", "command", "args", "env", "url", "headers", "allow", "timeout", "concurrent_calls"],
  ...["trust", "disabled", "enabled", "description", "oauth", "sampling_tokens", "sampling_ask"],
];

/** A server as its owner wrote it down, understood: variables are put in, every value is checked. */
export type McpServer = {
  readonly name: string;
  readonly reach:
    | {
        readonly kind: "stdio";
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        /** What `npx`, `uvx` and the like would fetch, understood or not; undefined where the command is another program. */
        readonly fetches: ReadPackageWords | undefined;
      }
    | {
        readonly kind: "http" | "sse";
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        /** How a person's login goes; undefined where the headers say who is there. */
        readonly login: LoginSettings | undefined;
      };
  /** What it may touch beyond the usual, in the permission language, paths absolute. */
  readonly allow: readonly string[];
  /** A request may stay without a sign of life for so long. */
  readonly timeoutMs: number;
  /** Requests that it gets at once. */
  readonly concurrentCalls: number;
  /** It may run without a sandbox where the machine has none. */
  readonly trusted: boolean;
  readonly enabled: boolean;
  /** What it may use of the models of conversations; undefined for nothing. */
  readonly sampling: GenerationGrant | undefined;
  /** Its entry before variables were put in. */
  readonly entry: JsonObject;
};

export type EntryPlace = {
  /** Where it stands, for messages. */
  readonly file: string;
  /** Absolute folder that relative paths start from. */
  readonly folder: string;
  /** What `~` stands for in permissions; empty for nothing. */
  readonly homeDir: string;
  /** The variables that it may refer to. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Understands one entry of "mcpServers". `invalid` names the file, the server and the key. */
export function readServerEntry(name: string, entry: JsonValue, place: EntryPlace): Result<McpServer> {
  const reject = (what: string, hint = HINT) =>
    fail("invalid", `${place.file}: MCP server ${JSON.stringify(name.slice(0, 64))} ${what}`, { hint });
  if (!SERVER_NAME.test(name))
    return reject(
      "must have a name of 1 to 32 letters, digits, hyphens and underscores that begins with none of the last two",
    );
  if (!isJsonObject(entry)) return reject("is no table");
  const unknown = Object.keys(entry).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    const near = nearestWord(unknown, KEYS);
    return reject(`has the unknown key "${unknown}"`, near === undefined ? HINT : `did you mean "${near}"?`);
  }
  const reach = readReach(entry, place.env);
  if (!reach.ok) return reject(reach.problem);
  const allow = readAllow(entry.allow, place);
  if (!allow.ok) return reject(allow.problem);
  const { timeout = DEFAULT_TIMEOUT_MS, concurrent_calls: concurrentCalls = 1, trust, disabled, enabled } = entry;
  if (!isWhole(timeout, MAX_TIMEOUT_MS)) return reject(`must have a timeout of 1 to ${MAX_TIMEOUT_MS} milliseconds`);
  if (!isWhole(concurrentCalls, MAX_AT_ONCE)) return reject(`must have concurrent_calls of 1 to ${MAX_AT_ONCE}`);
  const { sampling_tokens: tokensPerDay = 0, sampling_ask: asks } = entry;
  if (tokensPerDay !== 0 && !isWhole(tokensPerDay, MAX_SAMPLING_TOKENS))
    return reject(`must have sampling_tokens of 0 to ${MAX_SAMPLING_TOKENS}`);
  for (const [key, value] of Object.entries({ trust, disabled, enabled, sampling_ask: asks })) {
    if (value !== undefined && typeof value !== "boolean") return reject(`must have a ${key} that is true or false`);
  }
  const flags = { trusted: trust === true, enabled: disabled !== true && enabled !== false };
  const sampling = tokensPerDay === 0 ? undefined : { tokensPerDay, asks: asks !== false };
  return ok({
    name,
    reach: reach.value,
    allow: allow.value,
    timeoutMs: timeout,
    concurrentCalls,
    sampling,
    ...flags,
    entry,
  });
}

type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

function wrong(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}

function readReach(entry: JsonObject, env: EntryPlace["env"]): Read<McpServer["reach"]> {
  const { command, url } = entry;
  const type = entry.type ?? entry.transport ?? (command !== undefined ? "stdio" : "http");
  if (type === "stdio") {
    if (typeof command !== "string" || command === "") return wrong("must have a command, or a url");
    if (url !== undefined) return wrong("has a command and a url");
    if (entry.oauth !== undefined) return wrong("has oauth although it is started: nobody logs in at it");
    const args = readTexts(entry.args ?? [], "args");
    if (!args.ok) return args;
    const variables = readTable(entry.env ?? {}, "env", ENV_NAME, env);
    if (!variables.ok) return variables;
    const put = (text: string) => expandVariables(text, env);
    const program = put(command);
    if (program === "") return wrong("has a command that is empty once its variables are put in");
    const words = args.value.map(put);
    const fetches = readNpx(program, words) ?? readUvx(program, words);
    return { ok: true, value: { kind: type, command: program, args: words, env: variables.value, fetches } };
  }
  if (type !== "http" && type !== "sse" && type !== "streamable-http")
    return wrong('must be of the type "stdio", "http" or "sse"');
  if (command !== undefined) return wrong(`has a command although it is of the type "${type}"`);
  if (typeof url !== "string") return wrong("must have a url");
  const address = expandVariables(url, env);
  const parsed = URL.canParse(address) ? new URL(address) : undefined;
  if (parsed?.protocol !== "http:" && parsed?.protocol !== "https:") return wrong("must have a url of http or https");
  if (parsed.username !== "" || parsed.password !== "") return wrong("has a password in its url: put it into headers");
  const headers = readTable(entry.headers ?? {}, "headers", HEADER_NAME, env);
  if (!headers.ok) return headers;
  const hasOwn = Object.keys(headers.value).some((name) => name.toLowerCase() === "authorization");
  if (hasOwn && entry.oauth !== undefined) return wrong("has oauth and a header that says who is there");
  const login = readLogin(entry.oauth ?? {}, env);
  if (!login.ok) return login;
  const kind = type === "sse" ? "sse" : "http";
  return {
    ok: true,
    value: { kind, url: parsed.href, headers: headers.value, login: hasOwn ? undefined : login.value },
  };
}

/** What a login needs that the server cannot say itself. */
function readLogin(value: JsonValue, env: EntryPlace["env"]): Read<LoginSettings> {
  const read = readTable(value, "oauth", LOGIN_KEY, env);
  if (!read.ok) return read;
  const { client_id: clientId = "", client_secret: clientSecret = "", scope = "" } = read.value;
  const metadataUrl = read.value.client_metadata_url ?? "";
  if (clientSecret !== "" && clientId === "") return wrong("has a client_secret without a client_id in its oauth");
  if (metadataUrl !== "" && !/^https:\/\/[^/]+\/./.test(metadataUrl))
    return wrong("must have a client_metadata_url of https with a path in its oauth");
  const ownKey = readOwnKey(read.value);
  if (!ownKey.ok) return ownKey;
  return { ok: true, value: { clientId, clientSecret, metadataUrl, scope, ownKey: ownKey.value } };
}

/** A program's own login has all that it needs, and a person's has nothing of it. */
function readOwnKey(given: Readonly<Record<string, string>>): Read<LoginSettings["ownKey"]> {
  const { grant = "authorization_code", issuer = "", private_key: privateKey = "", algorithm = "ES256" } = given;
  const { client_id: clientId = "", client_secret: clientSecret = "" } = given;
  if (grant === "authorization_code") {
    const stray = ["issuer", "private_key", "algorithm"].find((key) => given[key] !== undefined);
    if (stray === undefined) return { ok: true, value: undefined };
    return wrong(`has ${stray} in its oauth, which goes with grant = "client_credentials"`);
  }
  if (grant !== "client_credentials")
    return wrong('must have "authorization_code" or "client_credentials" as the grant of its oauth');
  if (clientId === "" || (clientSecret === "") === (privateKey === ""))
    return wrong("must have a client_id and either a client_secret or a private_key in its oauth");
  if (!URL.canParse(issuer))
    return wrong("must have the address of its authorization server as the issuer of its oauth");
  if (!KEY_ALGORITHM.test(algorithm)) return wrong('must have an algorithm such as "ES256" or "RS256" in its oauth');
  return { ok: true, value: { issuer, privateKey, algorithm } };
}

function readTexts(value: JsonValue, key: string): Read<readonly string[]> {
  if (Array.isArray(value) && value.every((one) => typeof one === "string" && !one.includes("\0")))
    return { ok: true, value: value as readonly string[] };
  return wrong(`must have ${key} that are a list of texts`);
}

function readTable(
  value: JsonValue,
  key: string,
  names: RegExp,
  env: EntryPlace["env"],
): Read<Readonly<Record<string, string>>> {
  if (!isJsonObject(value)) return wrong(`must have ${key} that are a table of texts`);
  const read: [string, string][] = [];
  for (const [name, text] of Object.entries(value)) {
    if (!names.test(name)) return wrong(`has ${JSON.stringify(name)} among its ${key}, which is no name for one`);
    if (typeof text !== "string") return wrong(`must have a text for ${name} among its ${key}`);
    const put = expandVariables(text, env);
    if (/[\0\r\n]/.test(put) && names === HEADER_NAME) return wrong(`has a header ${name} of more than one line`);
    read.push([name, put]);
  }
  return { ok: true, value: Object.fromEntries(read) };
}

const ALLOWED_KINDS: ReadonlySet<string> = new Set(["net", "read", "write", "run"]);

/** What a server cannot be granted at all is said here, and not when it starts. */
function readAllow(value: JsonValue | undefined, { folder, homeDir }: EntryPlace): Read<readonly string[]> {
  const texts = readTexts(value ?? [], "allow");
  if (!texts.ok) return texts;
  const allow: string[] = [];
  for (const text of texts.value) {
    const parsed = parsePermission(text, folder, homeDir === "" ? undefined : homeDir);
    const at = `has ${JSON.stringify(text)} in allow, which`;
    if (!parsed.ok) return wrong(`${at} is no permission: ${parsed.message}`);
    for (const one of parsed.value) {
      if (!ALLOWED_KINDS.has(one.kind)) return wrong(`${at} is not offered to servers: net, read, write and run are`);
      if ((one.kind === "read" || one.kind === "write") && (one.path === undefined || one.path === "/"))
        return wrong(`${at} is too much: name the folders`);
      allow.push(printPermission(one));
    }
  }
  return { ok: true, value: allow };
}

function isWhole(value: JsonValue, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most;
}
