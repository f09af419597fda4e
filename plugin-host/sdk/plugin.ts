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
 * schemas, permissions. Whatever the plugin prints is its log (`claw plugin logs NAME`).
 */
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { type Boot, PluginService } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { Health, HealthCheckResponse_ServingStatus } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { requireBearer } from "./bearer.ts";
import { BOOT_VERSION, PROTOCOL_MAJOR, readBoot, sayHello } from "./boot.ts";
import { dialHost, type Host, MAX_MESSAGE_BYTES } from "./host-client.ts";
import { runTool } from "./tool-run.ts";

/** How long running tools may tidy up after the host is gone. */
const TIDY_MS = 500;
/** EX_USAGE of sysexits.h: started by hand, not by a host. */
const EXIT_NO_HOST = 64;
const SDK = "clawd-sdk-node/1";

/** What a running tool gets beside its arguments. */
export type ToolRun = {
  /** Shows a line to whoever waits. Never stored. */
  readonly progress: (line: string) => void;
  /** Aborts when the call is cancelled or its time is up. */
  readonly signal: AbortSignal;
  readonly host: Host;
  readonly callId: string;
  readonly sessionId: string;
};

/** A tool. Its description and input schema stand in plugin.json. */
export type ToolDefinition<Args extends object = JsonObject> = {
  /** As in plugin.json, without a prefix. */
  readonly name: string;
  /** Gives the text that the model reads; arguments are valid by the schema. What it throws is told as an error. */
  readonly run: (args: Args, run: ToolRun) => string | Promise<string>;
};

export type PluginDefinition = {
  /** As in plugin.json. */
  readonly name: string;
  /** As in plugin.json. */
  readonly version: string;
  readonly tools: readonly ToolDefinition[];
};

/** Makes a tool whose arguments have the type that its schema in plugin.json describes. */
export function tool<Args extends object = JsonObject>(definition: ToolDefinition<Args>): ToolDefinition {
  // The host has checked the arguments by the schema before they come here.
  return { name: definition.name, run: (args, run) => definition.run(args as Args, run) };
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
  const hostGone = new AbortController();
  const open = new Set<ServerHttp2Session>();
  const boot = await readBoot(process.stdin, () => {
    hostGone.abort(new Error("the host is gone"));
    setTimeout(() => process.exit(0), open.size === 0 ? 0 : TIDY_MS);
  });
  if (boot.bootVersion !== BOOT_VERSION || !boot.protocolMajors.includes(PROTOCOL_MAJOR)) {
    sayHello({ bootVersion: BOOT_VERSION, sdk: SDK, error: `${SDK} speaks clawd.plugin major ${PROTOCOL_MAJOR} only` });
    process.exit(1);
  }
  const server: Http2Server = createServer(
    connectNodeAdapter({
      routes: (router) => addRoutes(router, plugin, boot, hostGone.signal, () => finish(server, open)),
      interceptors: [requireBearer(boot.inboundToken)],
      acceptCompression: [],
      readMaxBytes: MAX_MESSAGE_BYTES,
      writeMaxBytes: MAX_MESSAGE_BYTES,
    }),
  );
  server.on("session", (session) => {
    open.add(session);
    session.once("close", () => open.delete(session));
  });
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen(boot.listen, listening.resolve);
  await listening.promise;
  sayHello({ bootVersion: BOOT_VERSION, protocolMajor: PROTOCOL_MAJOR, sdk: SDK });
}

function addRoutes(
  router: ConnectRouter,
  plugin: PluginDefinition,
  boot: Boot,
  hostGone: AbortSignal,
  onShutdown: () => void,
): void {
  const tools = new Map(plugin.tools.map((one) => [one.name, one]));
  const host = dialHost(boot.host, boot.outboundToken);
  router.service(PluginService, {
    initialize: () => ({ version: plugin.version, tools: plugin.tools.map(({ name }) => ({ name })) }),
    callTool: (request, context) =>
      runTool(tools.get(request.tool), request, host, AbortSignal.any([context.signal, hostGone])),
    shutdown: () => {
      onShutdown();
      return {};
    },
  });
  const serving = { status: HealthCheckResponse_ServingStatus.SERVING };
  router.service(Health, { check: () => serving });
}

/** A graceful close of HTTP/2: the answers under way, this one included, are still sent. Then the process ends. */
function finish(server: Http2Server, open: ReadonlySet<ServerHttp2Session>): void {
  server.close(() => process.exit(0));
  for (const session of open) session.close();
}
