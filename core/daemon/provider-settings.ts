import { isAbsolute } from "node:path";
import type { ProviderConfig } from "../provider/catalog.ts";
import { type Section, textOf } from "./section.ts";

/** Who answers, and where the answers are recorded. */
export type ProviderSettings = {
  /** "PROVIDER/NAME" or "PROVIDER" for whoever asks for none; empty for the first provider that is there. */
  readonly model: string;
  readonly anthropic: { readonly apiKey: string; readonly baseUrl: string; readonly model: string };
  /** File that every model answer is recorded to; empty for none. */
  readonly tape: string;
};

/** `model`, [providers] and [record]. */
export const PROVIDER_SECTION: Section<ProviderSettings> = {
  keys: {
    model: "string",
    "providers.anthropic.api_key": "string",
    "providers.anthropic.base_url": "string",
    "providers.anthropic.model": "string",
    "record.tape": "string",
  },
  check(values) {
    const tape = textOf(values, "record.tape");
    if (tape === "" || isAbsolute(tape)) return undefined;
    return { key: "record.tape", what: `must be an absolute path, not ${JSON.stringify(tape)}` };
  },
  read: (values) => ({
    model: textOf(values, "model"),
    anthropic: {
      apiKey: textOf(values, "providers.anthropic.api_key"),
      baseUrl: textOf(values, "providers.anthropic.base_url"),
      model: textOf(values, "providers.anthropic.model"),
    },
    tape: textOf(values, "record.tape"),
  }),
};

/** For the catalog: the environment comes before the file, as everywhere. */
export function providerConfig(config: ProviderSettings, env: NodeJS.ProcessEnv): ProviderConfig {
  const apiKey = env.ANTHROPIC_API_KEY || config.anthropic.apiKey;
  const baseUrl = env.ANTHROPIC_BASE_URL || config.anthropic.baseUrl;
  const { model } = config.anthropic;
  return {
    ...(config.model === "" ? {} : { default: config.model }),
    ...(apiKey === ""
      ? {}
      : { anthropic: { apiKey, ...(baseUrl === "" ? {} : { baseUrl }), ...(model === "" ? {} : { model }) } }),
    ...(config.tape === "" ? {} : { recordTo: config.tape }),
  };
}
