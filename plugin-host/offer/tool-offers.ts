import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@bufbuild/protobuf";
import { ok, type Result } from "../../core/domain/failure.ts";
import type { SlashCommandDeclaration, ToolDeclaration } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { fullToolName } from "../manifest/tool-style.ts";
import type { PluginTool } from "../manifest/tools.ts";
import type { OfferStore, StoredOffer } from "./offer-store.ts";
import { editionOf, judgeCommands, judgeOffer, type OfferedCommand, type OfferedTool } from "./offered-tools.ts";

/** What became of an offer. */
export type TakenOffer = {
  /** In the order of the offer; empty for what cannot be offered. */
  readonly names: readonly string[];
  readonly problems: readonly string[];
  /** Tools that are other than they were, by their own names. */
  readonly changed: readonly string[];
};

/** The tools that plugins offer while they run, remembered for the times when they do not. */
export type ToolOffers = {
  /** Those of the manifest and those that were offered. The same list until something changes. */
  tools(manifest: PluginManifest): readonly PluginTool[];
  /** The slash commands that were offered, beside those of the manifest. The same list until something changes. */
  commands(manifest: PluginManifest): readonly OfferedCommand[];
  /** True when the plugin was heard at least once, or offers nothing beyond its manifest. */
  isKnown(manifest: PluginManifest): boolean;
  /** Takes the place of what was offered before. */
  take(
    manifest: PluginManifest,
    declared: readonly ToolDeclaration[],
    commands: readonly SlashCommandDeclaration[],
  ): Promise<Result<TakenOffer>>;
  /** A person has seen the tools as they are: nobody is asked any more because they changed. */
  settle(manifest: PluginManifest): Promise<Result<void>>;
  forget(plugin: string): Promise<void>;
};

const NO_COMMANDS: readonly OfferedCommand[] = [];

export function openToolOffers(store: OfferStore): ToolOffers {
  const offers = new Map<string, StoredOffer | undefined>();
  const writing = new Map<string, Promise<unknown>>();
  const made = new WeakMap<PluginManifest, { readonly of: StoredOffer; readonly tools: readonly PluginTool[] }>();

  function offerOf(plugin: string): StoredOffer | undefined {
    if (!offers.has(plugin)) offers.set(plugin, store.read(plugin));
    return offers.get(plugin);
  }

  /** One after the other: the file must end as what was said last. */
  function keep(plugin: string, offer: StoredOffer): Promise<Result<void>> {
    offers.set(plugin, offer);
    const written = (writing.get(plugin) ?? Promise.resolve()).then(() => store.write(plugin, offer));
    writing.set(plugin, written);
    return written;
  }

  return {
    tools(manifest) {
      const of = manifest.dynamic ? offerOf(manifest.name) : undefined;
      if (of === undefined) return manifest.tools;
      const before = made.get(manifest);
      if (before?.of === of) return before.tools;
      const offered = of.tools.map((tool) => pluginTool(manifest, tool, of.settled.get(tool.name)));
      const tools = [...manifest.tools, ...offered];
      made.set(manifest, { of, tools });
      return tools;
    },
    commands: ({ name, dynamic }) => (dynamic ? offerOf(name)?.commands : undefined) ?? NO_COMMANDS,
    isKnown: ({ name, dynamic }) => !dynamic || offerOf(name) !== undefined,
    async take(manifest, declared, declaredCommands) {
      const { name } = manifest;
      const judged = judgeOffer(manifest, declared);
      const { names, problems } = judged;
      const before = new Map(offerOf(name)?.tools.map((tool) => [tool.name, tool.input]));
      const tools = judged.tools.map(({ tool }) => inOrderOf(before.get(tool.name), tool));
      const { commands, problems: commandProblems } = judgeCommands(manifest, declaredCommands);
      const settled = new Map(offerOf(name)?.settled);
      const changed: string[] = [];
      for (const tool of tools) {
        const edition = editionOf(name, tool);
        const first = settled.get(tool.name);
        if (first === undefined) settled.set(tool.name, edition);
        else if (first !== edition) changed.push(tool.name);
      }
      const kept = await keep(name, { tools, commands, settled });
      return kept.ok ? ok({ names, problems: [...problems, ...commandProblems], changed }) : kept;
    },
    async settle({ name }) {
      const offer = offerOf(name);
      if (offer === undefined) return ok(undefined);
      const now = offer.tools.map((tool) => [tool.name, editionOf(name, tool)] as const);
      return keep(name, { ...offer, settled: new Map([...offer.settled, ...now]) });
    },
    async forget(plugin) {
      offers.delete(plugin);
      await writing.get(plugin);
      writing.delete(plugin);
      await store.remove(plugin);
    },
  };
}

/** Most libraries send the keys of a schema in any order: one that says the same as before stays what it was. */
function inOrderOf(before: JsonObject | undefined, tool: OfferedTool): OfferedTool {
  return before !== undefined && isDeepStrictEqual(before, tool.input) ? { ...tool, input: before } : tool;
}

function pluginTool(manifest: PluginManifest, tool: OfferedTool, settled: string | undefined): PluginTool {
  const edition = editionOf(manifest.name, tool);
  const fullName = fullToolName(manifest.toolStyle, tool.name);
  const unsettled =
    settled === undefined || settled === edition
      ? ""
      : `${fullName} describes itself otherwise than it did when it was first seen, and nobody has confirmed that`;
  return { ...tool, fullName, edition, unsettled };
}
