import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type Bench, CLAW } from "../kit/claw.ts";
import { type HeapProbe, openHeapProbe, PROBED } from "./heap-probe.ts";
import { openLedger, type RequestLedger } from "./request-ledger.ts";

type Message = {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: { readonly requestState?: string };
};

/** A client of `claw mcp serve` over stdin and stdout that knows no library: whatever it says goes out as it is. */
export type StdioStranger = {
  readonly child: ChildProcess;
  readonly probe: HeapProbe;
  readonly ledger: RequestLedger;
  /** Resolves when there is room for more. */
  say(bytes: Buffer): Promise<void>;
  /** Says bytes that hold a request with this id; its answer. */
  ask(id: string, bytes: Buffer): Promise<Message>;
  /** Says half a message and leaves; exit code and signal. */
  leave(): Promise<readonly unknown[]>;
};

/** What it says, lines of any kind, to a request of the server's and to work that waits for it. */
export type Answers = { readonly question: (id: unknown) => Buffer; readonly held: (requestState: string) => Buffer };

export async function openStdioStranger(bench: Bench, answers: Answers): Promise<StdioStranger> {
  const child = spawn(process.execPath, [PROBED, CLAW, "mcp", "serve"], {
    ...{ env: bench.env, cwd: bench.workspace, stdio: ["pipe", "pipe", "pipe"] as const },
  });
  child.stdin.on("error", () => {});
  const ended = once(child, "exit");
  const probe = await openHeapProbe(child);
  const ledger = openLedger();
  const waiting = new Map<string, (answer: Message) => void>();
  /** False when there is no room for more. */
  function write(bytes: Buffer): boolean {
    ledger.said(bytes);
    return child.stdin.write(bytes);
  }
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    ledger.heard(message);
    if (message.method !== undefined) {
      if (message.id !== undefined) write(answers.question(message.id));
      return;
    }
    const requestState = message.result?.requestState;
    if (requestState !== undefined) write(answers.held(requestState));
    const key = String(message.id);
    waiting.get(key)?.(message);
    waiting.delete(key);
  });
  const stranger: StdioStranger = {
    ...{ child, probe, ledger },
    async say(bytes) {
      if (!write(bytes)) await Promise.race([once(child.stdin, "drain"), ended]);
    },
    async ask(id, bytes) {
      const { promise, resolve, reject } = Promise.withResolvers<Message>();
      waiting.set(id, resolve);
      void ended.then((how) => reject(new Error(`it ended before it answered ${id}: ${how.join()}`)));
      await stranger.say(bytes);
      return promise;
    },
    leave() {
      probe.close();
      child.stdin.end('{"jsonrpc":"2.0","id":"half","meth');
      return ended;
    },
  };
  return stranger;
}
