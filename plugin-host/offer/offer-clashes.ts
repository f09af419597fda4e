import type { PluginManifest } from "../manifest/manifest.ts";

type Named = Pick<PluginManifest, "name" | "modelProviders" | "embedders" | "slashCommands">;

/**
 * Names that two plugins offer. Of plugins in this order the first one is meant; what each of the others should know
 * stands under its name. Tools and memory sources carry their plugin's name and cannot clash.
 */
export function findClashes(plugins: readonly Named[]): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string>();
  const clashes = new Map<string, string[]>();
  for (const { name, modelProviders, embedders, slashCommands } of plugins) {
    const offers = [
      ...modelProviders.map((one) => `model provider "${one.name}"`),
      ...embedders.map(({ id }) => `embedder "${id}"`),
      ...slashCommands.map((one) => `command "/${one.name}"`),
    ];
    for (const offer of offers) {
      const owner = owners.get(offer);
      if (owner === undefined) owners.set(offer, name);
      else clashes.set(name, [...(clashes.get(name) ?? []), `its ${offer} is not used: plugin "${owner}" has it, too`]);
    }
  }
  return clashes;
}
