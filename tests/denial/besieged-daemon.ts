import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { expect } from "vitest";
import { HookAdminService, ScriptService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Event } from "../../proto/gen/clawd/v1/event_pb.ts";
import { childrenOf } from "../../sandbox/os/process-tree.ts";
import { dial, eventually, startDaemon } from "../kit/claw.ts";

/** How long the daemon may owe an answer while somebody works against it, milliseconds: liveness, not speed. */
const ANSWER_LIMIT_MS = 20_000;
/** Between two looks at the daemon during an attack, milliseconds. */
const PULSE_MS = 50;
/** What the daemon may hold more than before the first attack, when all are over, MiB: its heap gives garbage back late. */
const GROWTH_LIMIT_MIB = 400;
/** Live processes below a daemon at rest: hosts of four groups, a spare, the bundler, each with its walls. */
const PROCESSES_AT_REST_MAX = 24;

const LAST_WORDS_CHARS = 2000;

const INNOCENT = `/** @hook at=tool.before priority=1 timeout=20s on-error=deny */
export default (event) => (event.value.args.path === "innocent.md" ? { answer: "the innocent hook answers" } : undefined);
`;

/** What a turn came to: what its calls gave the model, and how it ended. */
export type Turn = { readonly outputs: readonly string[]; readonly ended: boolean };

/** A real daemon that is attacked, with the means to see that everybody else is served meanwhile. */
export type BesiegedDaemon = {
  readonly home: string;
  readonly workspace: string;
  readonly env: NodeJS.ProcessEnv;
  readonly pid: number;
  readonly scripts: ReturnType<typeof adminClients>["scripts"];
  readonly hookAdmin: ReturnType<typeof adminClients>["hooks"];
  /** Writes a file below the data folder; gives its path. */
  write(path: string, text: string): string;
  /** The command lines of everybody who lives below the daemon now. */
  commands(): readonly string[];
  /** A turn in a session of its own. `canAnswer`: somebody is there who could answer, and does not. */
  turn(text: string, canAnswer?: boolean): Promise<Turn>;
  /** Lets the attack run; while it does, and after it, status is answered and another session's turn is served. */
  withstand<T>(attack: () => Promise<T>): Promise<T>;
  /** Ends the daemon; nothing of it may be left over. */
  close(): Promise<void>;
};

function adminClients(home: string) {
  const nodeOptions = { socketPath: join(home, "clawd.sock") };
  const transport = createConnectTransport({ baseUrl: "http://clawd", httpVersion: "1.1", nodeOptions });
  return { scripts: createClient(ScriptService, transport), hooks: createClient(HookAdminService, transport) };
}

function statOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** A process as nobody else can be it: ids are used again, with another time of starting. Undefined when it is gone. */
function markOf(pid: number): string | undefined {
  const startedAt = statOf(pid)[19];
  return startedAt === undefined ? undefined : `${pid} ${startedAt}`;
}

function isAlive(mark: string): boolean {
  const pid = Number(mark.split(" ", 1)[0]);
  return markOf(pid) === mark && statOf(pid)[0] !== "Z";
}

function treeBelow(pid: number): number[] {
  const found: number[] = [];
  for (const queue = [pid]; queue.length > 0; ) {
    const children = childrenOf(queue.pop() ?? 0);
    found.push(...children);
    queue.push(...children);
  }
  return found;
}

function rssMib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) / 1024;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

/** @param config text of its config.toml; a breaker that never trips unless said otherwise */
export async function besiege(config = "[hooks]\nkills_allowed = 100000\n"): Promise<BesiegedDaemon> {
  const home = mkdtempSync(join(tmpdir(), "clawd-siege-"));
  const workspace = mkdtempSync(join(tmpdir(), "clawd-field-"));
  const env = { PATH: process.env.PATH ?? "", HOME: home, CLAWD_HOME: home, NO_COLOR: "1" };
  const write = (path: string, text: string) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  write("config.toml", config);
  write("hooks/innocent.ts", INNOCENT);
  writeFileSync(join(workspace, "innocent.md"), "an innocent file\n");
  const child = await startDaemon(env);
  const pid = child.pid ?? 0;
  let lastWords = "";
  child.stderr?.on("data", (bytes) => {
    lastWords = (lastWords + bytes).slice(-LAST_WORDS_CHARS);
  });
  const clients = dial(home);
  const admin = adminClients(home);
  /** Everybody who was ever seen below the daemon. */
  const seen = new Set<string>();
  let innocentSession = "";
  let innocentSeq = 0;
  let calmMib = 0;

  const newSession = async () => (await clients.sessions.openSession({ workspace })).sessionId;

  async function converse(sessionId: string, after: number, text: string, canAnswer: boolean) {
    const outputs: string[] = [];
    let seq = after;
    let ended = false;
    const listening = { sessionId, after, follow: true, canAnswer, attended: true };
    for await (const { news } of clients.sessions.subscribe(listening, { timeoutMs: 60_000 })) {
      if (news.case === "caughtUp") await clients.sessions.say({ sessionId, text });
      if (news.case !== "event") continue;
      const { body }: Event = news.value;
      seq = news.value.seq;
      if (body.case === "toolCallEnded") outputs.push(body.value.output);
      ended = body.case === "turnEnded";
      if (ended) break;
    }
    return { outputs, ended, seq };
  }

  function noteTree(): void {
    for (const mark of treeBelow(pid).map(markOf)) if (mark !== undefined) seen.add(mark);
  }

  async function lookAround(): Promise<void> {
    const { pid: answering } = await clients.daemon.status({}, { timeoutMs: ANSWER_LIMIT_MS });
    expect(answering).toBe(pid);
    noteTree();
  }

  async function serveTheInnocent(): Promise<void> {
    if (innocentSession === "") innocentSession = await newSession();
    const { outputs, seq } = await converse(innocentSession, innocentSeq, "read innocent.md", false);
    innocentSeq = seq;
    expect(outputs).toEqual(["the innocent hook answers"]);
  }

  await serveTheInnocent();
  calmMib = rssMib(pid);

  return {
    ...{ home, workspace, env, pid, write, scripts: admin.scripts, hookAdmin: admin.hooks },
    commands: () => treeBelow(pid).map(commandOf),
    async turn(text, canAnswer = false) {
      const { outputs, ended } = await converse(await newSession(), 0, text, canAnswer);
      return { outputs, ended };
    },
    async withstand(attack) {
      let over = false;
      const pulse = async () => {
        while (!over) {
          await lookAround();
          await pause(PULSE_MS);
        }
      };
      const attacked = attack().finally(() => {
        over = true;
      });
      const [outcome] = await Promise.all([attacked, pulse(), serveTheInnocent()]).catch((cause: unknown) => {
        const state = child.exitCode ?? child.signalCode ?? "alive";
        throw new Error(`the daemon (${state}) did not withstand; its last words: ${lastWords}`, { cause });
      });
      await lookAround();
      await serveTheInnocent();
      return outcome;
    },
    async close() {
      await eventually(
        () => treeBelow(pid).length,
        (count) => count <= PROCESSES_AT_REST_MAX,
        "the end of what the attacks started",
      );
      await eventually(
        () => Math.round(rssMib(pid) - calmMib),
        (grownMib) => grownMib < GROWTH_LIMIT_MIB,
        "the return of the daemon's memory",
      );
      noteTree();
      child.kill("SIGTERM");
      await exited(child);
      expect(child.exitCode).toBe(0);
      await eventually(
        () => [...seen].filter(isAlive),
        (left) => left.length === 0,
        "the end of every process",
      );
      for (const folder of [home, workspace]) rmSync(folder, { recursive: true, force: true });
    },
  };
}
