/**
 * Everything a clawd plugin written for Node needs:
 *
 *     import { servePlugin, tool } from "clawd/plugin";
 *
 *     await servePlugin({
 *       name: "hello",
 *       version: "1.0.0",
 *       tools: [tool<{ name: string }>({ name: "greet", run: ({ name }) => `Hello, ${name}!` })],
 *     });
 *
 * `plugin.json` beside it says the same to people and to the model before anything runs: descriptions, argument
 * schemas, permissions. Whatever the plugin prints is its log (`claw plugin logs NAME`). Beside tools it may have hooks,
 * models, embedders, memory sources and slash commands; `definition.ts` says what each of them gets and gives.
 */
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Boot, Wire } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { Health, HealthCheckResponse_ServingStatus } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { MAX_MESSAGE_BYTES } from "./bearer.ts";
import { chooseMajor, readBoot, sayHello } from "./boot.ts";
import type {
  EmbedderDefinition,
  HookDefinition,
  MemorySourceDefinition,
  ModelDefinition,
  PluginDefinition,
  SlashCommandDefinition,
  ToolDefinition,
} from "./definition.ts";
import { type Routes, routeGrpc } from "./grpc-server.ts";
import { hostLine } from "./host-client.ts";
import { createCore } from "./plugin-core.ts";
import { atMost, createWork, type Running } from "./running.ts";
import { serveHooks } from "./serve-hooks.ts";
import { serveMajor1 } from "./serve-major1.ts";
import { serveMajor2 } from "./serve-major2.ts";
import { serveEmbedders, serveMemorySources } from "./serve-memory.ts";
import { serveModels } from "./serve-models.ts";
import { serveSlashCommands } from "./serve-slash-commands.ts";
import { type FinerWords, ToolError, type ToolErrorCode } from "./tool-error.ts";

/** How long everything may take to tidy up after the host is gone, and after it has said to end. */
const TIDY_MS = 500;
const STOP_MS = 2_000;
/** EX_USAGE of sysexits.h: started by hand, not by a host. */
const EXIT_NO_HOST = 64;

export type {
  CallContext,
  Context,
  EmbedderDefinition,
  HookDefinition,
  HookEvent,
  HookVerdict,
  MemorySourceDefinition,
  ModelDefinition,
  ModelNews,
  ModelRequest,
  PluginDefinition,
  ResultPart,
  SlashAnswer,
  SlashCommandDefinition,
  SlashWords,
  ToolAnswer,
  ToolContext,
  ToolDefinition,
} from "./definition.ts";
export type {
  CallHost,
  Host,
  OfferedCommand,
  OfferedTool,
  Recollection,
  WordsGiven,
  WordsWanted,
} from "./host-client.ts";

/** To be thrown by a tool or a model: a failure of a kind, and, in `hint`, the next move. Other errors count as "invalid". */
export function toolError(code: ToolErrorCode, message: string, hint = "", finer: FinerWords = {}): Error {
  return new ToolError(code, message, hint, finer);
}

/** Makes a tool whose arguments have the type that its schema in plugin.json describes. */
export function tool<Args extends object = JsonObject>(definition: ToolDefinition<Args>): ToolDefinition {
  // The host has checked the arguments by the schema before they come here.
  return { name: definition.name, run: (args, context) => definition.run(args as Args, context) };
}

/** Makes a listener at one hook point. */
export function hook(definition: HookDefinition): HookDefinition {
  return definition;
}

/** Makes a model provider. */
export function model(definition: ModelDefinition): ModelDefinition {
  return definition;
}

/** Makes an embedder. */
export function embedder(definition: EmbedderDefinition): EmbedderDefinition {
  return definition;
}

/** Makes a source of documents. */
export function memorySource(definition: MemorySourceDefinition): MemorySourceDefinition {
  return definition;
}

/** Makes a slash command. */
export function slashCommand(definition: SlashCommandDefinition): SlashCommandDefinition {
  return definition;
}

/**
 * Serves the plugin until the host is gone or says so, then ends the process. Started by hand it explains itself and
 * ends with code 64. Resolves when the host was told that the plugin listens.
 */
export async function servePlugin(plugin: PluginDefinition): Promise<void> {
  if (process.env.CLAWD_PLUGIN !== "1") {
    process.stderr.write(
      `${plugin.name} ${plugin.version} is a plugin of clawd and runs only inside it.\n` +
        "Install it with:  claw plugin install FOLDER   (the folder that holds plugin.json)\n",
    );
    process.exit(EXIT_NO_HOST);
  }
  const gone = new AbortController();
  const ending = new AbortController();
  const work = createWork();
  let stopped: Promise<void> | undefined;
  const stop = () => {
    // Once, whichever end comes first. What it throws is for its author; the process ends all the same.
    stopped ??= (async () => plugin.stop?.())().catch((cause: unknown) => console.error("stop failed:", cause));
    return stopped;
  };
  const boot = await readBoot(process.stdin, () => {
    gone.abort(new Error("the host is gone"));
    void atMost(TIDY_MS, work.idle().then(stop)).finally(() => process.exit(0));
  });
  const major = chooseMajor(boot);
  if (typeof major !== "number") {
    sayHello(major);
    process.exit(1);
  }
  const line = hostLine(boot.host, boot.outboundToken);
  const facts = { config: {}, granted: [], dataFolder: undefined };
  const running: Running = { line, facts, gone: gone.signal, ending: ending.signal, work };
  const sessions = new Set<ServerHttp2Session>();
  const end = () => {
    ending.abort();
    // A graceful close of HTTP/2: the answers under way, that of Shutdown included, are still sent.
    server.close(() => void atMost(STOP_MS, stop()).finally(() => process.exit(0)));
    for (const session of sessions) session.close();
  };
  const server = createServer();
  addRoutes(routeGrpc(server, boot.inboundToken, MAX_MESSAGE_BYTES, gone.signal), plugin, major, running, end);
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  await listen(server, boot);
  sayHello({ protocolMajor: major, wire: Wire.GRPC });
}

async function listen(server: Http2Server, { listen: path }: Boot): Promise<void> {
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen(path, listening.resolve);
  await listening.promise;
}

function addRoutes(
  router: Routes,
  plugin: PluginDefinition,
  major: number,
  running: Running,
  onShutdown: () => void,
): void {
  const core = createCore(plugin, running, onShutdown);
  if (major === 1) serveMajor1(router, core);
  else serveMajor2(router, core);
  if (plugin.hooks !== undefined) serveHooks(router, plugin.hooks, running);
  if (plugin.models !== undefined) serveModels(router, plugin.models, running);
  if (plugin.embedders !== undefined) serveEmbedders(router, plugin.embedders, running);
  if (plugin.memorySources !== undefined) serveMemorySources(router, plugin.memorySources, running);
  if (plugin.slashCommands !== undefined || plugin.findSlashCommand !== undefined)
    serveSlashCommands(router, plugin, running);
  const serving = { status: HealthCheckResponse_ServingStatus.SERVING };
  // Whoever wants to watch is to ask with Check.
  router.service(Health, { check: () => serving });
}
