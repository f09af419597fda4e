import type { JsonValue, MessageInitShape } from "@bufbuild/protobuf";
import type {
  HookStatusSchema,
  InstallPluginResponseSchema,
  PluginStatusSchema,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
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
  | { readonly kind: "exit"; readonly code: number };

export type ScriptAnswer = {
  readonly questionId: string;
  readonly allowed: boolean;
  /** A yes that holds for everything of this kind, for the rest of the run. */
  readonly allOfKind: boolean;
};

/** Runs scripts in the sandbox. */
export type ScriptRunner = {
  /** Never throws; the last news is `exit`. */
  run(request: ScriptRequest, signal: AbortSignal): AsyncIterable<ScriptNews>;
  answer(answer: ScriptAnswer): Result<void>;
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
