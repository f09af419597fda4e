import { ok, type Result } from "../../core/domain/failure.ts";
import type { SlashArgument, SlashCall, SlashCommand, SlashOutcome } from "../../core/domain/slash-command.ts";
import type { CallQueue } from "../life/call-queue.ts";
import { askPlugin, brokeContract } from "./hear-plugin.ts";
import type { OfferParts } from "./offer-parts.ts";

/** Less than a client waits for what it said; a question to the person is answered within it or not at all. */
const SILENCE_MS = 100_000;
/** What is said or shown, UTF-16 code units. */
const TEXT_LIMIT_UNITS = 1024 * 1024;

/** As its plugin knows it, and, in `asName`, as people say it. */
export type DeclaredCommand = {
  readonly name: string;
  readonly asName: string;
  readonly description: string;
  readonly takes?: readonly SlashArgument[];
};

/** A plugin's slash command as the daemon sees it. */
export function makePluginCommand(parts: OfferParts, queue: CallQueue, declared: DeclaredCommand): SlashCommand {
  const { name, asName, description, takes = [] } = declared;
  const { workspace: only, category } = parts.manifest.toolStyle;
  const what = `command "/${asName}"`;
  return {
    name: asName,
    description,
    takes,
    category,
    ...(only === undefined ? {} : { workspace: only }),
    async run({ sessionId, workspace, desk, ...words }: SlashCall, signal): Promise<Result<SlashOutcome>> {
      const callId = parts.calls.freeId(`command-${asName}`);
      const close = parts.calls.open({ callId, sessionId, workspace, progress: () => {}, desk });
      const request = { command: name, ...words, sessionId, workspace, callId };
      try {
        const answer = await askPlugin(
          parts,
          { what, queue, silenceMs: SILENCE_MS, ask: (link, end) => link.runSlashCommand(request, end) },
          signal,
        );
        if (!answer.ok) return answer;
        const { outcome, messages } = answer.value;
        if (outcome.case === undefined) return brokeContract(parts, what, "answered nothing");
        if (outcome.value.length > TEXT_LIMIT_UNITS) {
          return brokeContract(parts, what, `answered with more than ${TEXT_LIMIT_UNITS / 1024 / 1024} Mi characters`);
        }
        if (outcome.value.trim() === "") return brokeContract(parts, what, "answered with an empty text");
        return ok({ do: outcome.case, text: outcome.value, ...(messages.length === 0 ? {} : { messages }) });
      } finally {
        close();
      }
    },
  };
}
