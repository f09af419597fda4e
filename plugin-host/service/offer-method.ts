import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { SlashCommandDeclaration, ToolDeclaration } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import type { HostMethods } from "./host-method.ts";

/** Takes what a plugin offers; tells under which names, and why not. */
export type TakeOffer = (
  tools: readonly ToolDeclaration[],
  commands: readonly SlashCommandDeclaration[],
) => Promise<Result<{ readonly names: readonly string[]; readonly problems: readonly string[] }>>;

/** `take` is undefined for a plugin whose manifest does not say that it offers tools while it runs. */
export function offerMethod(plugin: string, take: TakeOffer | undefined): HostMethods<"offer"> {
  return {
    async offer({ tools, slashCommands }) {
      if (take === undefined)
        return fail("denied", `plugin "${plugin}" offers tools that its manifest does not announce`, {
          hint: 'its manifest must say "dynamic": true',
        });
      const taken = await take(tools, slashCommands);
      return taken.ok ? ok({ names: [...taken.value.names], problems: [...taken.value.problems] }) : taken;
    },
  };
}
