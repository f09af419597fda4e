import type { JsonObject, JsonValue, MessageInitShape } from "@bufbuild/protobuf";
import type {
  HookStatusSchema,
  InstallPluginResponseSchema,
  PluginStatusSchema,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
import type {
  ListResourcesResponseSchema,
  McpPackageSchema,
  McpServerSchema,
} from "../../proto/gen/clawd/v1/mcp_pb.ts";
import type { Failure, Result } from "./failure.ts";
import type { HookAnswer } from "./hook.ts";

export type PluginRow = MessageInitShape<typeof PluginStatusSchema>;
export type PluginOffer = MessageInitShape<typeof InstallPluginResponseSchema>;
export type HookRow = MessageInitShape<typeof HookStatusSchema>;

/** What a plugin may touch now, and its version now. */
export type PluginGrant = { readonly granted: readonly string[]; readonly version: string };

/** What people may do with plugins. Nothing here executes a plugin but `reload`, and a look at a single executable. */
export type PluginAdmin = {
  /** Where they are installed, absolute. */
  readonly pluginsDir: string;
  list(): readonly PluginRow[];
  /** Reads the manifest in a folder or an archive, or asks an executable; changes nothing. */
  look(path: string, trust?: boolean): Promise<Result<PluginOffer>>;
  /** Grants everything that it asks for. `seenSha256` is the manifest that a person saw: another one is refused. */
  install(path: string, trust: boolean, seenSha256?: string): Promise<Result<PluginOffer>>;
  /** Installs an upgrade that asks for nothing more; keeps another one aside until it is granted. */
  upgrade(path: string, trust: boolean, seenSha256?: string): Promise<Result<PluginOffer>>;
  /** The value is what a person should know about the others. */
  remove(name: string): Promise<Result<readonly string[]>>;
  /** With nothing named: the upgrade that waits, or else everything that is withheld. */
  grant(name: string, permissions: readonly string[], trust: boolean): Promise<Result<PluginGrant>>;
  /** With nothing named: all permissions. */
  revoke(name: string, permissions: readonly string[], trust: boolean): Promise<Result<PluginGrant>>;
  enable(name: string, enabled: boolean): Promise<Result<void>>;
  reload(name: string): Promise<Result<void>>;
  log(name: string): Result<readonly string[]>;
  /**
   * Makes a token by which the agent of one remote plugin can enrol, once and within `lifeMs`. `address` is where that agent
   * listens, "HOST:PORT", or empty when it dials in; `services` lets the plugin keep things here and ask people.
   */
  enrol(
    name: string,
    terms: { readonly address: string; readonly services: boolean },
    lifeMs: number,
  ): Promise<Result<{ readonly token: string; readonly untilMs: number }>>;
  /** Takes a remote plugin's certificates and its connection away. What was granted to it stays. */
  unenrol(name: string): Promise<Result<void>>;
};

export type McpRow = MessageInitShape<typeof McpServerSchema>;
export type McpPackageRow = MessageInitShape<typeof McpPackageSchema>;

export type McpResources = MessageInitShape<typeof ListResourcesResponseSchema>;

/** An argument of a template of a server's, as far as it is written. */
export type ArgumentSoFar = {
  readonly uriTemplate: string;
  readonly argument: string;
  readonly value: string;
  /** Those that have their values already. */
  readonly others: Readonly<Record<string, string>>;
};
export type Completions = {
  readonly values: readonly string[];
  readonly total: number | undefined;
  readonly hasMore: boolean;
};

/** What people may do with servers of the Model Context Protocol. Folders are absolute; an empty one is none. */
export type McpAdmin = {
  /** Resolves when servers that were never heard have said what they offer, or have failed; soon, whatever happens. */
  learned(signal: AbortSignal): Promise<void>;
  /** With what waits in a folder's .mcp.json. */
  list(workspace: string): Promise<{ readonly servers: readonly McpRow[]; readonly problems: readonly Failure[] }>;
  /** Writes entries, by name, into the owner's file; all or none. */
  add(
    entries: JsonObject,
    replace: boolean,
  ): Promise<Result<{ readonly names: readonly string[]; readonly file: string }>>;
  /** Takes one out of it; the value is the file. */
  remove(name: string): Promise<Result<string>>;
  /** `sha256` is what a person saw: anything else is refused. */
  approve(name: string, workspace: string, sha256: string): Promise<Result<void>>;
  /** Where a person says yes to a login, if the server wants one; `redirectUrl` is where their browser is sent back to. */
  beginLogin(name: string, redirectUrl: string): Promise<Result<string>>;
  /** `query` is what it came back with. */
  finishLogin(name: string, query: string): Promise<Result<void>>;
  logout(name: string): Promise<Result<void>>;
  /** Of a server that conversations in the folder have. */
  resources(name: string, workspace: string, signal: AbortSignal): Promise<Result<McpResources>>;
  /** First "" when all are followed, then the address of each that changes, "" for the list. A failure is the last item. */
  followResources(
    name: string,
    workspace: string,
    uris: readonly string[],
    signal: AbortSignal,
  ): AsyncIterable<Result<string>>;
  /** How an argument may go on; nothing where the server completes none. */
  complete(name: string, workspace: string, argument: ArgumentSoFar, signal: AbortSignal): Promise<Result<Completions>>;
  /** Fetches the package that the server's entry names, or a newer one; `before` is the version that was there, or empty. */
  update(
    name: string,
    workspace: string,
  ): Promise<Result<{ readonly package: McpPackageRow; readonly before: string }>>;
  /** Reads all files again. */
  reload(): Promise<{ readonly servers: number; readonly problems: readonly Failure[] }>;
};

export type HookTrial = {
  readonly answer: HookAnswer;
  readonly because: string;
  readonly ms: number;
  readonly log: readonly string[];
};

/** What people may do with hooks: scripts, packages of them, and settings files with commands. */
export type HookAdmin = {
  /** In the order of running, those that do not run last with their failure. */
  list(): Promise<readonly HookRow[]>;
  /** A script (with what it imports), a folder with scripts, or a settings file. Several hooks are summed up in one row. */
  add(file: string): Promise<Result<HookRow>>;
  /** A hook by its name, or a whole package or settings file by its own. */
  remove(name: string): Promise<Result<void>>;
  /** Turns a hook, or all of a package or settings file, on or off. */
  enable(name: string, enabled: boolean): Promise<Result<void>>;
  /** Fires one hook on a made-up event; an empty point means its first. */
  test(name: string, point: string, value: JsonValue): Promise<Result<HookTrial>>;
};

export type ScriptRequest = {
  readonly file: string;
  readonly args: readonly string[];
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly folder: string;
  /** Wall time; 0 for the default. */
  readonly timeLimitMs: number;
  /** Heap; 0 for the default. */
  readonly memoryLimitMib: number;
  /** A person is there: what is neither granted nor denied is asked for. */
  readonly attended: boolean;
  /** "isolate" or "deno"; empty for what the configuration says. */
  readonly runtime: string;
  /** Which standard streams are terminals. */
  readonly terminals?: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean } | undefined;
  /** Runs the tests that it declares. `filter` as in `deno test --filter`; empty for all. */
  readonly tests?: { readonly filter: string; readonly failFast: boolean } | undefined;
  /** Absolute path of an import map; empty for the imports of a deno.json in its folder. */
  readonly importMap?: string;
};

/** `path`: its name and those of the tests it is a step of, outermost first. */
export type ScriptTestNews =
  | { readonly at: "plan"; readonly planned: number; readonly filteredOut: number; readonly only: boolean }
  | { readonly at: "begun"; readonly path: readonly string[] }
  | {
      readonly at: "ended";
      readonly path: readonly string[];
      readonly outcome: "ok" | "failed" | "ignored";
      readonly ms: number;
      /** What went wrong, with a stack; empty when nothing did. */
      readonly error: string;
    };

export type ScriptNews =
  | { readonly kind: "stdout" | "stderr"; readonly text: string }
  /** It waits for `ScriptRunner.answer`, until the question lapses. */
  | {
      readonly kind: "question";
      readonly questionId: string;
      readonly permission: string;
      readonly expiresAtMs: number;
    }
  | { readonly kind: "bytes"; readonly to: "stdout" | "stderr"; readonly bytes: Uint8Array }
  /** It waits for one `ScriptRunner.feed` with data. */
  | { readonly kind: "input"; readonly runId: string; readonly limitBytes: number }
  /** All signals that it hears from now on, in place of being ended by them. */
  | { readonly kind: "signals"; readonly runId: string; readonly names: readonly string[] }
  | { readonly kind: "test"; readonly news: ScriptTestNews }
  | { readonly kind: "exit"; readonly code: number };

export type ScriptAnswer = {
  readonly questionId: string;
  readonly allowed: boolean;
  /** A yes that holds for everything of this kind, for the rest of the run. */
  readonly allOfKind: boolean;
};

/** What a running script is given: a signal that it hears, or what it reads next. */
export type ScriptFeed = {
  readonly runId: string;
  readonly data: Uint8Array;
  readonly end: boolean;
  /** Empty for input. */
  readonly signal: string;
};

/** Runs scripts in the sandbox. */
export type ScriptRunner = {
  /** Never throws; the last news is `exit`. */
  run(request: ScriptRequest, signal: AbortSignal): AsyncIterable<ScriptNews>;
  answer(answer: ScriptAnswer): Result<void>;
  feed(feed: ScriptFeed): Result<void>;
};

export type Table = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
  readonly truncated: boolean;
};

/** One SELECT over the journals. */
export type JournalQuery = { query(sql: string, signal: AbortSignal): Promise<Result<Table>> };

/** What became of the hash chain of one journal. */
export type AuditedJournal = {
  readonly name: string;
  readonly chain: Result<{ readonly events: number; readonly headHash: string }>;
};

/** Checks journals: those of conversations and of the house by their ids, those of vector indices as "vectors/ID". */
export type JournalAudit = {
  /** The one of this name, or all when it is empty. */
  verify(name: string): Promise<readonly AuditedJournal[]>;
};

export type DoctorCheck = { readonly name: string; readonly ok: boolean; readonly found: string; readonly fix: string };

export type DaemonStatus = {
  readonly pid: number;
  readonly version: string;
  readonly nodeVersion: string;
  readonly home: string;
  readonly socket: string;
  readonly tcpAddress: string;
  readonly provider: string;
  readonly sandbox: { readonly level: string; readonly detail: string };
  readonly startedAtMs: number;
  readonly problems: readonly Failure[];
};

/** The daemon itself. */
export type DaemonAdmin = {
  status(): Promise<DaemonStatus>;
  doctor(): Promise<readonly DoctorCheck[]>;
  /** Begins an orderly end and returns at once. */
  shutdown(): void;
  /** Which of these provider variables (name → SHA-256 of the value) the daemon has with another value. */
  staleVariables(digests: ReadonlyMap<string, string>): readonly string[];
};
