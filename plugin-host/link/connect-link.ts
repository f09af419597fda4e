import { create } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import {
  EmbedService,
  HookAnswerSchema,
  HookService,
  MemorySourceService,
  ModelService,
  PluginService,
  SlashCommandService,
} from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { PluginService as PluginService2 } from "../../proto/gen/clawd/plugin/v2/plugin_pb.ts";
import { Health } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { buildWall } from "./connect-wall.ts";
import { type HookStream, openHookStream } from "./hook-stream.ts";
import { coreOfMajor1 } from "./plugin-core-major1.ts";
import { coreOfMajor2 } from "./plugin-core-major2.ts";
import { LinkError, type PluginLink } from "./plugin-link.ts";

/**
 * The plugin is told of a call's end a little after the host has drawn its own: whoever set the limit says that it ran out.
 */
const DEADLINE_GRACE_MS = 1_000;

export type ConnectLinkParts = {
  readonly transport: Transport;
  /** For people: what is spoken on the socket. */
  readonly wire: string;
  /** One of the host's majors. */
  readonly major: number;
  /** True where both sides can send at once: hook events then share one stream. */
  readonly streamsBothWays: boolean;
  readonly close: () => void;
};

/** Speaks any major of clawd.plugin over any transport that Connect has. */
export async function linkByConnect({
  transport,
  wire,
  major,
  streamsBothWays,
  close,
}: ConnectLinkParts): Promise<PluginLink> {
  // Loaded here: a daemon that calls no plugin needs none of it.
  const { createClient } = await import("@connectrpc/connect");
  const wall = await buildWall();
  const { ask, hear, translate } = wall;
  const core =
    major === 1
      ? coreOfMajor1(createClient(PluginService, transport))
      : coreOfMajor2(createClient(PluginService2, transport));
  const hooks = createClient(HookService, transport);
  const models = createClient(ModelService, transport);
  const embedders = createClient(EmbedService, transport);
  const sources = createClient(MemorySourceService, transport);
  const commands = createClient(SlashCommandService, transport);
  const health = createClient(Health, transport);
  const stream: HookStream | undefined = streamsBothWays
    ? openHookStream(async (requests, signal) => {
        // Past the generated client, which adds a queue of its own to each message.
        const { message } = await transport.stream(
          HookService.method.streamHooks,
          signal,
          undefined,
          undefined,
          requests,
        );
        return message;
      }, wall)
    : undefined;

  const runAlone: PluginLink["runHook"] = async (event, signal) => {
    const { answer } = await ask(hooks.runHook({ event }, { signal }), signal);
    return answer ?? create(HookAnswerSchema);
  };

  return {
    wire: `${wire}, major ${core.major}`,
    initialize: (facts, signal) => ask(core.initialize(facts, signal), signal),
    listTools: (signal) => ask(core.listTools(signal), signal),
    async configure(config, signal) {
      try {
        const { problem, restartRequired } = await core.configure(config, signal);
        if (problem !== "") return { problem };
        return restartRequired ? "restart" : "in force";
      } catch (cause) {
        const error = translate(cause, signal);
        if (error.kind === "unserved") return "unserved";
        throw error;
      }
    },
    callTool: (call, signal) => hear(core.callTool(call, signal, call.timeLimitMs + DEADLINE_GRACE_MS), signal),
    async runHook(event, signal) {
      if (stream?.isOpen() !== true) return runAlone(event, signal);
      try {
        return await stream.run(event, signal);
      } catch (cause) {
        // Never served, so the event was not heard: it may be asked once more. One that was heard never is.
        if (cause instanceof LinkError && cause.kind === "unserved") return runAlone(event, signal);
        throw cause;
      }
    },
    generate: (request, signal) => hear(models.generate(request, { signal }), signal),
    embed: ({ embedder, texts, isQuery }, signal) =>
      ask(embedders.embed({ embedder, texts, isQuery }, { signal }), signal),
    listDocuments: (source, signal) => hear(sources.listDocuments({ source }, { signal }), signal),
    runSlashCommand: (request, signal) => ask(commands.runSlashCommand(request, { signal }), signal),
    async drain(timeLimitMs) {
      await core.drain(timeLimitMs).catch(() => {});
    },
    shutdown: (reason, timeoutMs) =>
      core.shutdown(reason, timeoutMs).then(
        () => true,
        () => false,
      ),
    async answers(timeoutMs) {
      try {
        await health.check({}, { timeoutMs });
        return true;
      } catch (cause) {
        // A plugin without the health service is alive too.
        return translate(cause).kind === "unserved";
      }
    },
    close() {
      stream?.close();
      close();
    },
  };
}
