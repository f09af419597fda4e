import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { DaemonService, JournalService, MemoryService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import { eventually, startDaemon } from "../kit/claw.ts";

/** A daemon that is meant to be killed, a folder of files for it, and clients that find whichever daemon is there. */
export type MemoryHouse = {
  readonly home: string;
  /** What is indexed. */
  readonly files: string;
  readonly env: Readonly<Record<string, string>>;
  up(more?: Readonly<Record<string, string>>): Promise<void>;
  /** Ends it in order. */
  down(): Promise<void>;
  /** Ends it without a word. */
  kill(): Promise<void>;
  pid(): number;
  /** What it wrote to its standard error, over all its lives. */
  said(): string;
  ask(): ReturnType<typeof clientsOf>;
  index(folder?: string): Promise<void>;
  /** Texts of what a search by words finds, best first. */
  find(query: string, more?: FindMore): Promise<readonly string[]>;
  /** Resolves when every piece has its vector. */
  embedded(): Promise<void>;
  /** Rows, each as the text of its JSON. */
  sql(query: string): Promise<readonly string[]>;
  close(): Promise<void>;
};

export type FindMore = { readonly mode?: string; readonly workspace?: string; readonly sessionId?: string };

export async function openMemoryHouse(more: Readonly<Record<string, string>> = {}): Promise<MemoryHouse> {
  const home = await mkdtemp(join(tmpdir(), "clawd-home-"));
  const files = await mkdtemp(join(tmpdir(), "clawd-files-"));
  const env = { PATH: process.env.PATH ?? "", HOME: home, CLAWD_HOME: home, NO_COLOR: "1", ...more };
  let child: ChildProcess | undefined;
  let said = "";

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  const house: MemoryHouse = {
    ...{ home, files, env },
    async up(extra = {}) {
      child = await startDaemon({ ...env, ...extra });
      child.stderr?.on("data", (bytes) => {
        said += bytes;
      });
    },
    down: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    pid: () => child?.pid ?? 0,
    said: () => said,
    ask: () => clientsOf(home),
    async index(folder = files) {
      for await (const _ of house.ask().memory.index({ folder }));
    },
    async find(query, { mode = "lexical", workspace = "", sessionId = "" } = {}) {
      const { hits } = await house.ask().memory.search({ query, mode, limit: 100, viewer: { workspace, sessionId } });
      return hits.map(({ text }) => text);
    },
    async embedded() {
      // After a start nothing is loaded before somebody asks.
      await house.find("vectors", { mode: "hybrid" });
      await eventually(
        () => house.ask().memory.stats({}),
        ({ toEmbed }) => toEmbed === 0,
        "that every piece has its vector",
      );
    },
    async sql(query) {
      const { rows } = await house.ask().journals.query({ sql: query });
      return rows.map((row) => JSON.stringify(toJson(ListValueSchema, row)));
    },
    async close() {
      await end("SIGTERM");
      if (process.env.KEEP_HOME === undefined) await rm(home, { recursive: true, force: true });
      else console.log("kept", home);
      await rm(files, { recursive: true, force: true });
    },
  };
  return house;
}

function clientsOf(home: string) {
  const nodeOptions = { socketPath: join(home, "clawd.sock") };
  const transport = createConnectTransport({ baseUrl: "http://clawd", httpVersion: "1.1", nodeOptions });
  return {
    daemon: createClient(DaemonService, transport),
    memory: createClient(MemoryService, transport),
    journals: createClient(JournalService, transport),
    sessions: createClient(SessionService, transport),
  };
}
