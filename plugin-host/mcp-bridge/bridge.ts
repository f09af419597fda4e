/**
 * A server of the Model Context Protocol as a plugin: speaks the plugin protocol with the daemon and MCP with the server, which is
 * its child or is dialled. It lives exactly as long as its connection: the daemon starts it anew when somebody needs it. Only where
 * the server wants a login first it waits without one.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { type FetchLike, InsufficientScopeError } from "@modelcontextprotocol/client";
import {
  type CallHost,
  type Host,
  type SlashCommandDefinition,
  servePlugin,
  type ToolContext,
  type ToolDefinition,
} from "../sdk/plugin.ts";
import { BRIDGE_VERSION, type BridgeSettings, readSettings } from "./bridge-settings.ts";
import { classified, classifyError, loginWanted } from "./failure-class.ts";
import { isHouseCall, runHouseCall } from "./house-calls.ts";
import { limitedFetch } from "./limited-fetch.ts";
import { isLoginCall, type Login, LoginWantedError, openLogin, runLoginCall } from "./login.ts";
import { connectTo, type McpSession, type Pauses } from "./mcp-session.ts";
import { offerOf, type ServerOffer } from "./offer.ts";
import { ownKeyLogin } from "./own-key-login.ts";
import { promptArguments, promptMessages, promptText } from "./prompts.ts";
import { askPerson } from "./questions.ts";
import { reachedFetch } from "./reached-fetch.ts";
import { openResourceNews, type ResourceNews } from "./resource-news.ts";
import { listResources, RESOURCE_TOOLS, readResource } from "./resource-tools.ts";
import { isErrorAnswer, partsOf, textOf } from "./result-parts.ts";
import { retryingFetch } from "./retrying-fetch.ts";
import { sampleModel } from "./sampling.ts";
import { MAX_MESSAGE_BYTES, transportsTo } from "./transport.ts";

/** Its connection is gone. */
const EXIT_DISCONNECTED = 1;
/** What an authorization server may take for one answer. */
const LOGIN_ANSWER_LIMIT_MS = 20_000;
const MAX_LOGIN_ANSWER_BYTES = 1024 * 1024;
/** The pause after its lists were asked for, before they are asked for again. */
const CHANGE_PAUSE_MS = 250;

type Connected = { readonly session: McpSession; readonly news: ResourceNews; offer: ServerOffer };
type Bridge = {
  readonly settings: BridgeSettings;
  readonly login: Login | undefined;
  connected: Connected | undefined;
};

let bridge: Bridge | undefined;
const pauses: Pauses = { excuse: new Set() };
/** The calls under way: a question of the server belongs to the only one. */
const calls = new Set<CallHost>();

/** Each request and its answer, a stream too, within `callMs`: the library leaves streams open when nobody waits any more. */
function httpFetch(callMs: number): FetchLike {
  const reached = reachedFetch(fetch, process.env.HTTP_PROXY);
  const withinCall = (init: RequestInit | undefined): RequestInit | undefined => {
    if (init?.method !== "POST") return init;
    const ends = [AbortSignal.timeout(callMs), ...(init.signal == null ? [] : [init.signal])];
    return { ...init, signal: AbortSignal.any(ends) };
  };
  return retryingFetch({
    fetch: limitedFetch((url, init) => reached(url, withinCall(init)), MAX_MESSAGE_BYTES),
    chance: Math.random,
    onPause(ms, why) {
      console.error(`warning: ${why}; it is tried again in ${Math.round(ms)} ms`);
      for (const excuse of pauses.excuse) excuse(ms);
    },
    pause: async (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
  });
}

async function begin(json: JsonObject, host: Host): Promise<void> {
  const settings = readSettings(json);
  const login =
    settings.login === undefined || settings.login.ownKey !== undefined
      ? undefined
      : await openLogin({
          ...{ serverUrl: settings.url, settings: settings.login, secrets: host.secrets, now: Date.now },
          fetch: limitedFetch(
            (url, init) => fetch(url, { ...init, signal: AbortSignal.timeout(LOGIN_ANSWER_LIMIT_MS) }),
            MAX_LOGIN_ANSWER_BYTES,
          ),
          newState: () => randomBytes(32).toString("base64url"),
        });
  const begun: Bridge = { settings, login, connected: undefined };
  try {
    await connect(begun, host);
  } catch (cause) {
    if (!(cause instanceof LoginWantedError)) throw sayConnectError(cause, settings);
    console.error(`warning: it wants you to log in: claw mcp login ${settings.server}`);
  }
  bridge = begun;
}

async function connect(to: Bridge, host: Host): Promise<void> {
  const { settings, login } = to;
  const parts = {
    env: process.env,
    nodeBinary: process.execPath,
    fetch: httpFetch(settings.callMs),
    auth: login?.auth ?? ownLogin(settings),
  };
  const session = await connectTo(settings, transportsTo(settings, parts), eventsOf(to, host), pauses);
  console.error(`info: it is ${JSON.stringify(session.serverName)} and speaks ${session.version} of the protocol`);
  to.connected = { session, news: openResourceNews(), offer: await makeOffer(to, session, host) };
}

function ownLogin({ login }: BridgeSettings) {
  return login?.ownKey === undefined ? undefined : ownKeyLogin({ ...login, ownKey: login.ownKey });
}

async function makeOffer({ settings }: Bridge, session: McpSession, host: Host): Promise<ServerOffer> {
  const offer = await offerOf(session, settings.callMs);
  await host.offer(offer.tools, offer.commands);
  return offer;
}

function eventsOf(to: Bridge, host: Host) {
  const { server, callMs } = to.settings;
  const meanwhile = {
    call: () => (calls.size === 1 ? [...calls][0] : undefined),
    waiting(isWaiting: boolean) {
      for (const excuse of pauses.excuse) excuse(isWaiting ? callMs : 0);
    },
    note: (line: string) => console.error(line),
  };
  return {
    onEnd() {
      console.error("error: the server ended the connection");
      process.exit(EXIT_DISCONNECTED);
    },
    onChange: onceAtATime(async () => {
      const { connected } = to;
      if (connected !== undefined) connected.offer = await makeOffer(to, connected.session, host);
    }),
    onTrouble: (cause: Error) => console.error(`warning: ${cause.message}`),
    onLog: (level: string, text: string) => console.error(`${levelOf(level)}: ${text}`),
    onResource(uri: string) {
      if (uri !== "") console.error(`info: the resource ${uri} changed`);
      to.connected?.news.changed(uri);
    },
    onQuestion: (params: JsonObject) => askPerson(params, { server, ...meanwhile }),
    onSample: (params: JsonObject, signal: AbortSignal) => sampleModel(params, { ...meanwhile, signal }),
  };
}

/** Whoever says a thousand times that its lists changed is asked once more, and calls need not wait behind the questions. */
function onceAtATime(work: () => Promise<void>): () => void {
  let isWorking = false;
  let isWanted = false;
  const run = async () => {
    isWorking = true;
    while (isWanted) {
      isWanted = false;
      await work().catch((cause: unknown) =>
        console.error("error: its changed list of tools could not be read:", cause),
      );
      // Calls that wait have their turn in between.
      await delay(CHANGE_PAUSE_MS);
    }
    isWorking = false;
  };
  return () => {
    isWanted = true;
    if (!isWorking) void run();
  };
}

/** The levels of syslog, as the log of plugins has them. */
function levelOf(level: string): string {
  if (level === "debug" || level === "warning" || level === "error") return level;
  return level === "info" || level === "notice" ? "info" : "error";
}

function sayConnectError(cause: unknown, { server, command: [program = ""] }: BridgeSettings): Error {
  const isMissing = cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "EACCES");
  if (!isMissing) return classifyError(cause, server);
  const message = `MCP server "${server}": the program "${program}" is not there for it`;
  return classified("not_found", `${message}; name it by its path, or let it be seen: allow = ["read=…"]`);
}

/** Runs one piece of work for somebody who waits; what the library throws becomes a failure with a class. */
async function working<T>(host: CallHost, work: (to: Connected) => Promise<T>): Promise<T> {
  if (bridge === undefined) throw classified("transient", "the server is not connected");
  const { settings, login, connected } = bridge;
  if (connected === undefined) throw loginWanted(settings.server);
  calls.add(host);
  try {
    return await work(connected);
  } catch (cause) {
    if (cause instanceof InsufficientScopeError)
      await login?.wantScope(cause.requiredScope, cause.resourceMetadataUrl?.href);
    throw classifyError(cause, settings.server);
  } finally {
    calls.delete(host);
  }
}

/** The daemon knows which tools there are; what is none, the server itself refuses. */
function findTool(name: string): ToolDefinition {
  if (isLoginCall(name)) return { name, run: (args, { host }) => loginCall(name, args, host) };
  if (isHouseCall(name)) return { name, run: (args, context) => houseCall(name, args, context) };
  return {
    name,
    async run(args, { signal, progress, host }) {
      const isResourceTool =
        bridge?.connected?.offer.resourceTools.has(name) === true && Object.hasOwn(RESOURCE_TOOLS, name);
      if (isResourceTool) return working(host, (to) => runResourceTool(to, name, args, host, signal));
      const answer = await working(host, ({ session }) =>
        session.ask("tools/call", { name, arguments: args }, { signal, onProgress: progress }),
      );
      if (isErrorAnswer(answer)) throw classified("invalid_input", textOf(answer), "");
      return partsOf(answer, host);
    },
  };
}

async function runResourceTool(to: Connected, name: string, args: JsonObject, host: CallHost, signal: AbortSignal) {
  const { session, news } = to;
  if (name === "list_resources") return listResources(session, args, { signal });
  const parts = await readResource(session, args, host, { signal });
  const uri = String(args.uri);
  // Whoever takes all of it follows it, if they want to hear of changes.
  if (session.has.subscriptions && args.whole !== true) {
    // Whether it can be heard of changes nothing about what was read.
    await news.subscribe(session, uri, signal).catch((cause: unknown) => {
      console.error(`warning: changes of the resource ${uri} are not heard of:`, cause);
    });
  }
  return parts;
}

/** Belongs to nobody's conversation: a question of the server meanwhile is not about it. */
async function houseCall(name: string, args: JsonObject, { signal, progress }: ToolContext): Promise<string> {
  if (bridge === undefined) throw classified("transient", "the server is not connected");
  const { settings, connected } = bridge;
  if (connected === undefined) throw loginWanted(settings.server);
  const { session, news, offer } = connected;
  const reads = offer.resourceTools.has("read_resource");
  return runHouseCall(name, args, { session, news, reads, signal, tell: progress }).catch((cause: unknown) => {
    throw classifyError(cause, settings.server);
  });
}

async function loginCall(name: string, args: JsonObject, host: Host): Promise<string> {
  if (bridge === undefined) throw classified("transient", "the server is not connected");
  const { login, settings } = bridge;
  if (login === undefined)
    throw classified("invalid_input", `MCP server "${settings.server}" is not one that a person logs in at`, "");
  const said = await runLoginCall(login, name, args).catch((cause: unknown) => {
    throw classifyError(cause, settings.server);
  });
  if (said === "" && bridge.connected === undefined) await connect(bridge, host);
  return said;
}

function findSlashCommand(name: string): SlashCommandDefinition {
  return {
    name,
    run: ({ args, named, whole }, { signal, host }) =>
      working(host, async ({ session, offer }) => {
        const prompt = offer.prompts.get(name);
        if (prompt === undefined) throw classified("not_found", "the server has no such prompt any more", "");
        const given = Object.keys(named).length > 0 ? named : promptArgumentsOf(prompt, args);
        const answer = await session.ask("prompts/get", { name, arguments: { ...given } }, { signal });
        const text = promptText(answer);
        if (text === "") throw classified("invalid_input", "the prompt says nothing", "");
        return {
          ...(whole ? { messages: promptMessages(answer) } : {}),
          say: `(Words of the prompt "${name}" of the MCP server "${bridge?.settings.server ?? ""}":)\n${text}`,
        };
      }),
  };
}

function promptArgumentsOf(...[prompt, text]: Parameters<typeof promptArguments>) {
  try {
    return promptArguments(prompt, text);
  } catch (cause) {
    throw classified("invalid_input", cause instanceof Error ? cause.message : String(cause), "");
  }
}

await servePlugin({
  name: "mcp",
  version: BRIDGE_VERSION,
  findTool,
  findSlashCommand,
  configure: async (config, host) => (bridge === undefined ? begin(config, host) : "restart"),
  stop: async () => bridge?.connected?.session.close(),
});
