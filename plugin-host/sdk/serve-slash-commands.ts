import { Code, ConnectError } from "@connectrpc/connect";
import { SlashCommandService } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { PluginDefinition } from "./definition.ts";
import type { Routes } from "./grpc-server.ts";
import { callContextOf, type Running } from "./running.ts";
import { told } from "./serve-memory.ts";

/** Answers messages that begin with one of its commands. */
export function serveSlashCommands(
  router: Routes,
  plugin: Pick<PluginDefinition, "slashCommands" | "findSlashCommand">,
  running: Running,
): void {
  const byName = new Map((plugin.slashCommands ?? []).map((one) => [one.name, one]));
  router.service(SlashCommandService, {
    async runSlashCommand(request, { signal }) {
      const command = byName.get(request.command) ?? plugin.findSlashCommand?.(request.command);
      if (command === undefined)
        throw new ConnectError(`there is no command "/${request.command}" here`, Code.NotFound);
      const done = running.work.begin();
      try {
        const { args, named, whole, sessionId, workspace } = request;
        const context = callContextOf(running, request, AbortSignal.any([signal, running.gone]));
        const answer = await command.run({ args, named, whole, sessionId, workspace }, context);
        const messages = whole ? [...(answer.messages ?? [])] : [];
        return "say" in answer
          ? { outcome: { case: "say", value: answer.say }, messages }
          : { outcome: { case: "show", value: answer.show }, messages };
      } catch (cause) {
        throw told(cause);
      } finally {
        done();
      }
    },
  });
}
