import type { JsonObject } from "@bufbuild/protobuf";
import type { Failure, Result } from "../../core/domain/failure.ts";
import type { GenerationGrant } from "../../core/domain/generation-grant.ts";
import type { PluginManifest } from "./manifest.ts";
import type { PluginTool } from "./tools.ts";

/**
 * A plugin that nobody installed: the owner wrote into a file of their own that it shall run and what it may touch. Its program is
 * one of the house's.
 */
export type AdoptedPlugin = {
  /** Its name holds a "_", so that no installed plugin has it. */
  readonly manifest: PluginManifest;
  /** A folder of its own, absolute; made when it starts. */
  readonly folder: string;
  /** What its program is told. */
  readonly settings: JsonObject;
  /** Files of the house that it sees, absolute. */
  readonly programs: readonly string[];
  /** Never shown in its log. */
  readonly secrets: readonly string[];
  /** Digest of everything above and below, hex: another one is another plugin. */
  readonly sha256: string;
  /** Where it is written down, for people. */
  readonly source: string;
  /** It may run without a sandbox where the machine has none. */
  readonly trusted: boolean;
  readonly enabled: boolean;
  /** Why it cannot be started as it is; undefined when it can. */
  readonly missing: Failure | undefined;
  /** What it may use of the models of conversations that it works for; undefined for nothing. */
  readonly generation: GenerationGrant | undefined;
};

/** What the house may do with plugins that the owner wrote down in a file. */
export type Adoption = {
  /** Puts these in the place of those before. */
  adopt(plugins: readonly AdoptedPlugin[]): Promise<void>;
  /** Starts in the background what was never heard. */
  learn(): void;
  /** Resolves when it was heard or failed, at the latest after ten seconds. */
  learned(signal: AbortSignal): Promise<void>;
  tools(name: string): readonly PluginTool[];
  /** Whether it ever said what it offers, be it nothing. */
  heard(name: string): boolean;
  /** Why one that is turned on does not run. */
  failure(name: string): Failure | undefined;
  /** A person has seen its tools as they are. */
  settle(name: string): Promise<Result<void>>;
  /** Has its process do what the daemon alone may ask of it, starting it if need be; gives the text that it answers with. */
  command(name: string, command: string, args: JsonObject, signal: AbortSignal): Promise<Result<string>>;
  /** The same for what it goes on telling, line by line, until the signal aborts. A failure is the last item. */
  follow(name: string, command: string, args: JsonObject, signal: AbortSignal): AsyncIterable<Result<string>>;
  /** What it keeps under this key, out of everybody's sight. */
  secret(name: string, key: string): Promise<Result<string | undefined>>;
  /** Takes away all of that, and what runs with it. */
  forgetSecrets(name: string): Promise<Result<void>>;
  /** Takes away what was kept of one that is gone. */
  forget(name: string): Promise<Result<void>>;
};
