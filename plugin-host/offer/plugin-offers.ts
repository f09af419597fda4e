import type { DocumentSource } from "../../core/domain/document-source.ts";
import type { Embedder } from "../../core/domain/embedder.ts";
import type { Provider } from "../../core/domain/provider.ts";
import type { SlashCommand } from "../../core/domain/slash-command.ts";
import { type CallQueue, createCallQueue } from "../life/call-queue.ts";
import { fullToolName } from "../manifest/tool-style.ts";
import type { OfferParts } from "./offer-parts.ts";
import type { OfferedCommand } from "./offered-tools.ts";
import { makePluginEmbedder } from "./plugin-embedders.ts";
import { makePluginSource } from "./plugin-memory-sources.ts";
import { makePluginModel } from "./plugin-models.ts";
import { makePluginCommand } from "./plugin-slash-commands.ts";

/** Questions of one kind that may wait for a place at one plugin. */
const MAX_WAITING = 64;

/** What the house gets from one plugin beside tools and hooks. */
export type Offers = {
  readonly models: readonly Provider[];
  readonly embedders: readonly Embedder[];
  readonly sources: readonly DocumentSource[];
  /** At this moment; the same list until something changes. */
  readonly commands: () => readonly SlashCommand[];
};

/** Makes what the manifest declares usable, and the commands that were `offered`. Starts nothing. */
export function makeOffers(parts: OfferParts, offered: () => readonly OfferedCommand[]): Offers {
  const { manifest } = parts;
  // A queue a kind: a command that recalls something must not wait for the embedder behind itself.
  const queue = () => createCallQueue(manifest.name, manifest.limits.concurrentCalls, MAX_WAITING);
  const [models, embedders, sources, commands] = [queue(), queue(), queue(), queue()];
  return {
    models: manifest.modelProviders.map((declared) => makePluginModel(parts, models, declared)),
    embedders: manifest.embedders.map((declared) => makePluginEmbedder(parts, embedders, declared)),
    sources: manifest.memorySources.map((declared) => makePluginSource(parts, sources, declared)),
    commands: makeCommands(parts, commands, offered),
  };
}

function makeCommands(
  parts: OfferParts,
  queue: CallQueue,
  offered: () => readonly OfferedCommand[],
): () => readonly SlashCommand[] {
  const { slashCommands, toolStyle } = parts.manifest;
  const own = slashCommands.map((declared) => makePluginCommand(parts, queue, { ...declared, asName: declared.name }));
  let of: readonly OfferedCommand[] = [];
  let made: readonly SlashCommand[] = own;
  return () => {
    const now = offered();
    if (now === of) return made;
    of = now;
    made = [
      ...own,
      ...now.map(({ name, description, takes }) =>
        makePluginCommand(parts, queue, {
          ...{ name, asName: fullToolName(toolStyle, name), takes },
          description: toolStyle.note + description,
        }),
      ),
    ];
    return made;
  };
}
