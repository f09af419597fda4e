import { isAbsolute } from "node:path";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { Provider, ProviderCatalog } from "../domain/provider.ts";
import { anthropicProvider, DEFAULT_ANTHROPIC_MODEL } from "./anthropic.ts";
import { KEY_HINT } from "./anthropic-failure.ts";
import { rehearsalProvider } from "./rehearsal.ts";
import { recordTape, tapeProvider } from "./tape.ts";
import { type TapeWriter, tapeWriter } from "./tape-file.ts";

/** What the config file and the environment say about providers, already read. */
export type ProviderConfig = {
  /** "PROVIDER/NAME" or "PROVIDER" that the config names; absent for the first one that is set up. */
  readonly default?: string;
  /** Absent or with an empty key: Anthropic is not set up. */
  readonly anthropic?: { readonly apiKey: string; readonly baseUrl?: string; readonly model?: string };
  /** Absolute path of a tape that every call is recorded to. */
  readonly recordTo?: string;
};

/** Tokens that one reply may have, thinking included. Models stop earlier by themselves. */
const MAX_OUTPUT_TOKENS = 32_000;

const NAMES = ["anthropic", "tape", "rehearsal"] as const;
type ProviderName = (typeof NAMES)[number];

type Found = { readonly provider: Provider; readonly model: string };

/**
 * Finds who answers. Without a name: what the config names, else Anthropic when it has a key, else the rehearsal.
 * `defaultName` is that answer as "PROVIDER/NAME". A provider is made once and kept.
 */
export function providerCatalog(
  config: ProviderConfig,
  nowMs: () => number,
): ProviderCatalog & { readonly defaultName: string } {
  const { anthropic, recordTo } = config;
  const tape = recordTo === undefined ? undefined : tapeWriter(recordTo);
  const made = new Map<string, Provider>();

  function keep(key: string, make: () => Provider): Provider {
    let provider = made.get(key);
    if (provider === undefined) {
      provider = recorded(make(), tape, nowMs);
      made.set(key, provider);
    }
    return provider;
  }

  function findAnthropic(model: string): Result<Found> {
    if (anthropic === undefined || anthropic.apiKey === "") {
      return fail("denied", "there is no API key for anthropic", { hint: KEY_HINT });
    }
    const { apiKey, baseUrl, model: configured = DEFAULT_ANTHROPIC_MODEL } = anthropic;
    const options = {
      apiKey,
      model: configured,
      maxOutputTokens: MAX_OUTPUT_TOKENS,
      ...(baseUrl === undefined ? {} : { baseUrl }),
    };
    const provider = keep("anthropic", () => anthropicProvider(options));
    return ok({ provider, model: model === "" ? configured : model });
  }

  function findTape(file: string): Result<Found> {
    if (!isAbsolute(file)) {
      const hint = "write it like tape//home/me/demo.tape: the daemon does not work in your folder";
      return fail("invalid", `a tape needs an absolute path, and "${file}" is none`, { hint });
    }
    return ok({ provider: keep(`tape/${file}`, () => tapeProvider(file)), model: file });
  }

  function find(name: ProviderName, model: string): Result<Found> {
    switch (name) {
      case "anthropic":
        return findAnthropic(model);
      case "tape":
        return findTape(model);
      case "rehearsal":
        return ok({ provider: keep("rehearsal", () => rehearsalProvider()), model: model === "" ? "plain" : model });
    }
  }

  const fallback = anthropic === undefined || anthropic.apiKey === "" ? "rehearsal" : "anthropic";
  const wanted = config.default === undefined || config.default === "" ? fallback : config.default;

  function resolve(asked: string): Result<Found> {
    const text = asked === "" ? wanted : asked;
    const slash = text.indexOf("/");
    const name = slash === -1 ? text : text.slice(0, slash);
    const model = slash === -1 ? "" : text.slice(slash + 1);
    return isName(name) ? find(name, model) : unknownName(text, anthropic?.apiKey ?? "");
  }

  const first = resolve("");
  return { resolve, defaultName: first.ok ? `${first.value.provider.name}/${first.value.model}` : wanted };
}

function isName(name: string): name is ProviderName {
  return NAMES.some((known) => known === name);
}

function unknownName(asked: string, anthropicKey: string): Result<Found> {
  const usable =
    anthropicKey === ""
      ? "rehearsal, tape/FILE (anthropic once ANTHROPIC_API_KEY is set)"
      : "anthropic/MODEL, rehearsal, tape/FILE";
  const hint = asked.startsWith("claude") ? `did you mean anthropic/${asked}?` : `there are: ${usable}`;
  return fail("not_found", `this build has no model provider "${asked}"`, { hint });
}

/** A replay is not recorded again. */
function recorded(provider: Provider, tape: TapeWriter | undefined, nowMs: () => number): Provider {
  return tape === undefined || provider.name === "tape" ? provider : recordTape(provider, tape, nowMs);
}
