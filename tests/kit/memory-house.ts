import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { IndexResponse } from "../../proto/gen/clawd/v1/admin_pb.ts";
import { type Event, ToolCallStatus } from "../../proto/gen/clawd/v1/event_pb.ts";
import { CLAW, dial, eventually, type Ran, startDaemon } from "./claw.ts";

/** How a tool call ended. */
export type Called = { readonly done: boolean; readonly output: string };

/** A daemon over a data folder and a workspace of its own, spoken to as any program would: a call takes milliseconds. */
export type MemoryHouse = {
  readonly home: string;
  /** Real path. */
  readonly workspace: string;
  /** Of its daemons and of `claw`. */
  readonly env: Readonly<Record<string, string>>;
  dial(): ReturnType<typeof dial>;
  /** Writes files of the workspace; the folders they lie in are made. */
  files(files: Readonly<Record<string, string | Uint8Array>>): Promise<void>;
  config(text: string): Promise<void>;
  up(env?: Readonly<Record<string, string>>): Promise<void>;
  /** Ends the daemon. */
  down(how?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** Of the daemon that was started last. */
  pid(): number;
  /** What the daemons of this house wrote to their logs. */
  log(): string;
  claw(...args: readonly string[]): Promise<Ran>;
  /** A new session. */
  open(): Promise<string>;
  /** Says something, in a new session unless one is named, and gives the events of that turn. */
  say(words: string, sessionId?: string): Promise<readonly Event[]>;
  /** Lets the rehearsing model call a tool. */
  call(tool: string, args: JsonObject, sessionId?: string): Promise<Called>;
  /** The same for a call that must go well. */
  told<T = JsonObject>(tool: string, args: JsonObject, sessionId?: string): Promise<T>;
  /** Brings a folder in, by default the workspace. */
  index(folder?: string): Promise<IndexResponse>;
  /** Ids or paths of what is found, best first. */
  found(query: string, mode?: string): Promise<readonly string[]>;
  /** Texts of what a search finds, by words unless another mode is named, best first. */
  texts(query: string, more?: TextsMore): Promise<readonly string[]>;
  /** Resolves when every piece has its vector. */
  embedded(): Promise<void>;
  sql(query: string): Promise<readonly (readonly JsonValue[])[]>;
  close(): Promise<void>;
};

export type TextsMore = { readonly mode?: string; readonly workspace?: string; readonly sessionId?: string };

/** @param place the daemon's data folder; by default one of its own. KEEP_HOME in the environment leaves it there for a look. */
export async function openMemoryHouse(
  more: Readonly<Record<string, string>> = {},
  place?: string,
): Promise<MemoryHouse> {
  const home = place ?? (await mkdtemp(join(tmpdir(), "clawd-home-")));
  const workspace = await realpath(await mkdtemp(join(tmpdir(), "clawd-work-")));
  const base = { PATH: process.env.PATH ?? "", HOME: home, CLAWD_HOME: home, NO_COLOR: "1", ...more };
  let child: ChildProcess | undefined;
  let said = "";

  const house: MemoryHouse = {
    home,
    workspace,
    env: base,
    dial: () => dial(home),
    async files(files) {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(workspace, path)), { recursive: true });
        await writeFile(join(workspace, path), content);
      }
    },
    config: (text) => writeFile(join(home, "config.toml"), text),
    async up(env = {}) {
      child = await startDaemon({ ...base, ...env }, (log) => {
        said += log;
      });
    },
    async down(how = "SIGTERM") {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill(how);
      await ended;
    },
    pid: () => child?.pid ?? 0,
    log: () => said,
    claw: (...args) =>
      new Promise((resolve) => {
        const options = { env: base, cwd: workspace };
        const running = execFile(process.execPath, [CLAW, ...args], options, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
        );
        running.stdin?.end();
      }),
    open: async () => (await dial(home).sessions.openSession({ workspace })).sessionId,
    async say(text, sessionId) {
      const session = sessionId ?? (await house.open());
      const { sessions } = dial(home);
      const before = await lastNumber(home, session);
      await sessions.say({ sessionId: session, text, yolo: true });
      const events: Event[] = [];
      for await (const { news } of sessions.subscribe({ sessionId: session, after: before, follow: true })) {
        if (news.case === "fault") throw new Error(news.value.message);
        if (news.case !== "event") continue;
        events.push(news.value);
        if (news.value.body.case === "turnEnded") break;
      }
      return events;
    },
    async call(tool, args, sessionId) {
      const events = await house.say(`call ${tool} ${JSON.stringify(args)}`, sessionId);
      for (const { body } of events) {
        if (body.case === "toolCallEnded")
          return { done: body.value.status === ToolCallStatus.DONE, output: body.value.output };
      }
      throw new Error(`${tool} was not called`);
    },
    async told<T>(tool: string, args: JsonObject, sessionId?: string) {
      const { done, output } = await house.call(tool, args, sessionId);
      if (!done) throw new Error(output);
      return JSON.parse(output) as T;
    },
    async index(folder = workspace) {
      let last: IndexResponse | undefined;
      for await (const progress of dial(home).memory.index({ folder })) last = progress;
      if (last?.done !== true) throw new Error("indexing ended before it was done");
      return last;
    },
    async found(query, mode = "") {
      const { hits } = await dial(home).memory.search({ query, mode, limit: 20, viewer: { workspace } });
      return hits.map(({ path, memoryId }) => (path === "" ? memoryId : path.replace(`${workspace}/`, "")));
    },
    async texts(query, { mode = "lexical", workspace: folder = "", sessionId = "" } = {}) {
      const viewer = { workspace: folder, sessionId };
      const { hits } = await dial(home).memory.search({ query, mode, limit: 100, viewer });
      return hits.map(({ text }) => text);
    },
    async embedded() {
      // After a start nothing is loaded before somebody asks.
      await house.texts("vectors", { mode: "hybrid" });
      await eventually(
        () => dial(home).memory.stats({}),
        ({ toEmbed }) => toEmbed === 0,
        "that every piece has its vector",
      );
    },
    sql: async (sql) =>
      (await dial(home).journals.query({ sql })).rows.map((row) => toJson(ListValueSchema, row) as JsonValue[]),
    async close() {
      await house.down();
      if (process.env.KEEP_HOME === undefined) await rm(home, { recursive: true, force: true });
      else console.log("kept", home);
      await rm(workspace, { recursive: true, force: true });
    },
  };
  return house;
}

async function lastNumber(home: string, sessionId: string): Promise<number> {
  let last = 0;
  for await (const { news } of dial(home).sessions.subscribe({ sessionId, follow: false })) {
    if (news.case === "event") last = news.value.seq;
  }
  return last;
}
