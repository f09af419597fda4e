import { ok, type Result } from "../../core/domain/failure.ts";
import { OWN_PROVIDERS } from "../../core/domain/provider.ts";
import type { SlashArgument } from "../../core/domain/slash-command.ts";
import type {
  EmbedderDeclaration,
  Manifest,
  MemorySourceDeclaration,
  ModelProviderDeclaration,
  SlashCommandDeclaration,
} from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import type { PluginHook } from "./hooks.ts";
import { findTwice, isName, NAME_FORM } from "./names.ts";
import type { Reject } from "./rejection.ts";
import { findArgumentProblem, readArgument } from "./slash-arguments.ts";

const MAX_OF_A_KIND = 64;
const MAX_DIMENSIONS = 16_384;
const PROVIDER_NAME = /^[a-zA-Z][a-zA-Z0-9.-]{0,63}$/;
const MODEL_NAME = /^[\x21-\x7e]{1,128}$/;
const EMBEDDER_ID = /^[a-zA-Z0-9][a-zA-Z0-9._:/@-]{0,127}$/;

/** What a plugin offers beside tools and hooks. */
export type PluginOffers = {
  readonly modelProviders: readonly { readonly name: string; readonly defaultModel: string }[];
  readonly embedders: readonly { readonly id: string; readonly dimensions: number }[];
  readonly memorySources: readonly { readonly name: string; readonly description: string }[];
  /** Names without the slash. */
  readonly slashCommands: readonly {
    readonly name: string;
    readonly description: string;
    readonly takes?: readonly SlashArgument[];
  }[];
};

export function judgeOffers(manifest: Manifest, reject: Reject): Result<PluginOffers> {
  const { modelProviders, embedders, memorySources, slashCommands } = manifest;
  const failed =
    judgeEach("modelProviders", modelProviders, judgeModelProvider, ({ name }) => name, reject) ??
    judgeEach("embedders", embedders, judgeEmbedder, ({ id }) => id, reject) ??
    judgeEach("memorySources", memorySources, judgeNamed, ({ name }) => name, reject) ??
    judgeEach("slashCommands", slashCommands, judgeCommand, ({ name }) => name, reject);
  if (failed !== undefined) return failed;
  return ok({
    modelProviders: modelProviders.map(({ name, defaultModel }) => ({ name, defaultModel })),
    embedders: embedders.map(({ id, dimensions }) => ({ id, dimensions })),
    memorySources: memorySources.map(({ name, description }) => ({ name, description })),
    slashCommands: slashCommands.map(({ name, description, arguments: takes }) => ({
      ...{ name, description },
      takes: takes.map(readArgument),
    })),
  });
}

/** What is wrong with one thing: the field of it, and the problem. */
type Fault = { readonly field: string; readonly problem: string } | undefined;

function judgeEach<T>(
  field: string,
  things: readonly T[],
  judge: (thing: T) => Fault,
  nameOf: (thing: T) => string,
  reject: Reject,
): ReturnType<Reject> | undefined {
  if (things.length > MAX_OF_A_KIND) return reject(field, `has more than ${MAX_OF_A_KIND} entries`);
  for (const [index, thing] of things.entries()) {
    const fault = judge(thing);
    if (fault !== undefined) return reject(`${field}[${index}].${fault.field}`, fault.problem);
  }
  const names = things.map(nameOf);
  const twice = findTwice(names);
  return twice === undefined
    ? undefined
    : reject(`${field}[${twice}]`, `"${names[twice]}" stands there twice`, "give each a name of its own");
}

function judgeModelProvider({ name, defaultModel }: ModelProviderDeclaration): Fault {
  if (!PROVIDER_NAME.test(name)) {
    const problem = `${JSON.stringify(name)} must be a letter, then at most 63 letters, digits, hyphens or dots`;
    return { field: "name", problem };
  }
  if (OWN_PROVIDERS.includes(name)) {
    return { field: "name", problem: `"${name}" is a provider of clawd itself, and no plugin may take its name` };
  }
  if (MODEL_NAME.test(defaultModel)) return undefined;
  return { field: "defaultModel", problem: "must name a model: at most 128 characters without spaces" };
}

function judgeEmbedder({ id, dimensions }: EmbedderDeclaration): Fault {
  if (!EMBEDDER_ID.test(id)) {
    const problem = `${JSON.stringify(id)} must be at most 128 letters, digits or . _ : / @ -`;
    return { field: "id", problem };
  }
  if (dimensions >= 1 && dimensions <= MAX_DIMENSIONS) return undefined;
  return { field: "dimensions", problem: `must be from 1 to ${MAX_DIMENSIONS}, not ${dimensions}` };
}

function judgeCommand(declared: SlashCommandDeclaration): Fault {
  const problem = findArgumentProblem(declared.arguments);
  return judgeNamed(declared) ?? (problem === undefined ? undefined : { field: "arguments", problem });
}

function judgeNamed({ name }: MemorySourceDeclaration | SlashCommandDeclaration): Fault {
  return isName(name) ? undefined : { field: "name", problem: `${JSON.stringify(name)} ${NAME_FORM}` };
}

/** For people, a line each: "hook tool.before", "model NAME", "embedder ID", "memory NAME", "/NAME". */
export function describeOffers(offers: PluginOffers & { readonly hooks: readonly PluginHook[] }): string[] {
  return [
    ...offers.hooks.map(({ at }) => `hook ${at}`),
    ...offers.modelProviders.map(({ name }) => `model ${name}`),
    ...offers.embedders.map(({ id }) => `embedder ${id}`),
    ...offers.memorySources.map(({ name }) => `memory ${name}`),
    ...offers.slashCommands.map(({ name }) => `/${name}`),
  ];
}
