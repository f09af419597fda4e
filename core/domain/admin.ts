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

/** What people may do with plugins. Nothing here executes a plugin but `reload`. */
export type PluginAdmin = {
  list(): readonly PluginRow[];
  /** Reads the manifest in a folder; changes nothing. */
  look(folder: string): Promise<Result<PluginOffer>>;
  install(folder: string, trust: boolean): Promise<Result<PluginOffer>>;
  remove(name: string): Promise<Result<void>>;
  trust(name: string, trusted: boolean): Promise<Result<void>>;
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

/** What people may do with hook scripts. */
export type HookAdmin = {
  /** In the order of running, broken ones last with their failure. */
  list(): Promise<readonly HookRow[]>;
  add(file: string): Promise<Result<HookRow>>;
  remove(name: string): Promise<Result<void>>;
  /** Fires one hook on a made-up event; an empty point means its first. */
  test(name: string, point: string, value: JsonValue): Promise<Result<HookTrial>>;
};

export type ScriptRequest = {
  readonly file: string;
  readonly args: readonly string[];
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly folder: string;
};

export type ScriptNews =
  | { readonly kind: "stdout" | "stderr"; readonly text: string }
  | { readonly kind: "exit"; readonly code: number };

/** Runs a script in the sandbox. Never throws; the last news is `exit`. */
export type ScriptRunner = { run(request: ScriptRequest, signal: AbortSignal): AsyncIterable<ScriptNews> };

export type Table = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
  readonly truncated: boolean;
};

/** One SELECT over the journals. */
export type JournalQuery = { query(sql: string, signal: AbortSignal): Promise<Result<Table>> };

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
