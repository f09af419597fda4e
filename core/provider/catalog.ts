import { isAbsolute } from "node:path";
import { fail, ok, type Result } from "../domain/failure.ts";
import { OWN_PROVIDERS, type Provider, type ProviderCatalog, type ProviderSource } from "../domain/provider.ts";
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
 * `defaultName` is that answer as "PROVIDER/NAME". A provider is made once and kept. Plugins come after what is built in,
 * are never the default by themselves, and are looked at only when somebody names a provider that is not built in.
 */
export function providerCatalog(
  config: ProviderConfig,
  nowMs: () => number,
  plugins: ProviderSource = () => [],
): ProviderCatalog & { readonly defaultName: string } {
  const { anthropic, recordTo } = config;
  const tape = recordTo === undefined ? undefined : tapeWriter(recordTo);
  const made = new Map<string, Provider>();
  const recordings = new WeakMap<Provider, Provider>();

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

  function findPlugin(name: string, model: string): Found | undefined {
    if (OWN_PROVIDERS.includes(name)) return undefined;
    const offered = plugins().find((provider) => provider.name === name);
    if (offered === undefined) return undefined;
    const provider = recordings.get(offered) ?? recorded(offered, tape, nowMs);
    recordings.set(offered, provider);
    return { provider, model: model === "" ? offered.defaultModel : model };
  }

  const fallback = anthropic === undefined || anthropic.apiKey === "" ? "rehearsal" : "anthropic";
  const wanted = config.default === undefined || config.default === "" ? fallback : config.default;

  function resolve(asked: string): Result<Found> {
    const text = asked === "" ? wanted : asked;
    const slash = text.indexOf("/");
    const name = slash === -1 ? text : text.slice(0, slash);
    const model = slash === -1 ? "" : text.slice(slash + 1);
    if (isName(name)) return find(name, model);
    const found = findPlugin(name, model);
    if (found !== undefined) return ok(found);
    const offered = plugins().map((provider) => provider.name);
    return unknownName(text, anthropic?.apiKey ?? "", offered);
  }

  return {
    resolve,
    get defaultName() {
      const first = resolve("");
      return first.ok ? `${first.value.provider.name}/${first.value.model}` : wanted;
    },
  };
}

function isName(name: string): name is ProviderName {
  return NAMES.some((known) => known === name);
}

function unknownName(asked: string, anthropicKey: string, offered: readonly string[]): Result<Found> {
  const own = anthropicKey === "" ? ["rehearsal", "tape/FILE"] : ["anthropic/MODEL", "rehearsal", "tape/FILE"];
  const more = anthropicKey === "" ? " (anthropic once ANTHROPIC_API_KEY is set)" : "";
  const usable = `${[...own, ...new Set(offered)].join(", ")}${more}`;
  const hint = asked.startsWith("claude") ? `did you mean anthropic/${asked}?` : `there are: ${usable}`;
  return fail("not_found", `this build has no model provider "${asked}"`, { hint });
}

/** A replay is not recorded again. */
function recorded(provider: Provider, tape: TapeWriter | undefined, nowMs: () => number): Provider {
  return tape === undefined || provider.name === "tape" ? provider : recordTape(provider, tape, nowMs);
}
