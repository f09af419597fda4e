// One plugin and its peers: what each makes of the same event, the same tool call and the same stream.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Incarnation } from "../plugin-host/life/incarnation.ts";

/** One way to have a stranger's function called. */
export type Peer = {
  readonly name: string;
  /** What is around it. */
  readonly wall: string;
  /** The process that it runs in; undefined where it is this one. */
  readonly pid: number | undefined;
  /** One event of `EVENT_VALUE`, answered by "modify" with the same value. */
  hook(): Promise<void>;
  /** One call, answered by the text of its arguments. */
  tool(): Promise<void>;
  /** So many MiB in pieces of 64 KiB. Resolves when all came. */
  pour(mebibytes: number): Promise<void>;
  close(): Promise<void>;
};

const PIECE_BYTES = 64 * 1024;
const PIECES_PER_MIB = 16;
const BYTES_PER_MIB = 1024 ** 2;
/** As plugins have: who stands back for whom must not be what is measured. */
const NICE = 5;

const TEXT = "x".repeat(200);
/** Some 250 bytes of JSON. */
const EVENT_VALUE = { tool: "write", args: { path: "notes.md", text: TEXT } };
const EVENT = {
  at: "tool.before",
  callId: "c1",
  sessionId: "s1",
  workspace: "/w",
  value: EVENT_VALUE,
  timeLimitMs: 5000,
};
const CALL = { callId: "c1", sessionId: "s1", workspace: "/w", timeLimitMs: 60_000 };

function check(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`${what} was not answered as it should be`);
}

/** A plugin of ours, by its link. */
export function pluginPeer(name: string, wall: string, { link, pid, stop }: Incarnation): Peer {
  /** Runs one call to its end; `onOutput` hears of each piece. */
  const call = async (tool: string, args: JsonObject, onOutput: (bytes: number) => void): Promise<string> => {
    let text = "";
    for await (const news of link.callTool({ ...CALL, tool, args }, new AbortController().signal)) {
      if (news.kind === "output") onOutput(news.data.byteLength);
      if (news.kind !== "result") continue;
      for (const part of news.result.parts) if (part.kind === "text") text += part.text;
    }
    return text;
  };
  return {
    ...{ name, wall, pid },
    async hook() {
      const { verdict } = await link.runHook({ ...EVENT, hook: 0 }, new AbortController().signal);
      check(verdict.case === "modify" && verdict.value.tool === "write", "the event");
    },
    async tool() {
      check((await call("echo", { text: TEXT }, () => {})) === TEXT, "the call");
    },
    async pour(mebibytes) {
      let bytes = 0;
      await call("pour", { mebibytes }, (more) => {
        bytes += more;
      });
      check(bytes === mebibytes * BYTES_PER_MIB, "the call");
    },
    close: () => stop("the bench is over", 0),
  };
}

type Message = { readonly id: number; readonly result?: unknown; readonly output?: string };
type Waiting = { readonly end: (result: unknown) => void; readonly onOutput: (bytes: number) => void };

/** Requests by id, whatever carries them. */
function askBy(send: (message: JsonObject) => void) {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  return {
    hear({ id, result, output }: Message): void {
      if (output !== undefined) {
        waiting.get(id)?.onOutput(output.length);
        return;
      }
      waiting.get(id)?.end(result);
      waiting.delete(id);
    },
    ask(method: string, params: JsonObject, onOutput: (bytes: number) => void): Promise<unknown> {
      lastId += 1;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      waiting.set(lastId, { end: resolve, onOutput });
      send({ jsonrpc: "2.0", id: lastId, method, params });
      return promise;
    },
  };
}

function callsBy(ask: ReturnType<typeof askBy>["ask"]): Pick<Peer, "hook" | "tool" | "pour"> {
  return {
    async hook() {
      const { modify } = (await ask("hook", EVENT, () => {})) as { modify: typeof EVENT_VALUE };
      check(modify.tool === "write", "the event");
    },
    async tool() {
      check((await ask("tool", { ...CALL, args: { text: TEXT } }, () => {})) === TEXT, "the call");
    },
    async pour(mebibytes) {
      let bytes = 0;
      await ask("pour", { mebibytes }, (more) => {
        bytes += more;
      });
      check(bytes === mebibytes * BYTES_PER_MIB, "the call");
    },
  };
}

/** The program of a peer in JavaScript: `hear` gets a request, `say` sends, `full` resolves when it may go on. */
const ANSWER = `
const piece = "x".repeat(${PIECE_BYTES});
async function hear({ id, method, params }) {
  if (method === "hook") return say({ jsonrpc: "2.0", id, result: { modify: params.value } });
  if (method === "tool") return say({ jsonrpc: "2.0", id, result: params.args.text });
  for (let left = params.mebibytes * ${PIECES_PER_MIB}; left > 0; left -= 1) await say({ id, output: piece });
  say({ jsonrpc: "2.0", id, result: "" });
}`;

const NODE_PROGRAM = `${ANSWER}
function say(message) {
  if (!process.stdout.write(JSON.stringify(message) + "\\n")) return new Promise((resolve) => process.stdout.once("drain", resolve));
}
let rest = "";
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const line of lines) hear(JSON.parse(line));
}).on("end", () => process.exit(0));`;

const PYTHON_PROGRAM = `
import json, sys
say = lambda message: (sys.stdout.write(json.dumps(message) + "\\n"), sys.stdout.flush())
piece = "x" * ${PIECE_BYTES}
for line in sys.stdin:
    request = json.loads(line)
    id, method, params = request["id"], request["method"], request["params"]
    if method == "hook":
        say({"jsonrpc": "2.0", "id": id, "result": {"modify": params["value"]}})
    elif method == "tool":
        say({"jsonrpc": "2.0", "id": id, "result": params["args"]["text"]})
    else:
        for _ in range(params["mebibytes"] * ${PIECES_PER_MIB}):
            say({"id": id, "output": piece})
        say({"jsonrpc": "2.0", "id": id, "result": ""})
`;

/** Hears lines of JSON. Pieces of a long line are joined once. */
function hearLines(child: ChildProcess, hear: (message: Message) => void): void {
  let rest: string[] = [];
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = chunk.split("\n");
    const last = lines.pop() ?? "";
    for (const line of lines) {
      hear(JSON.parse(rest.length === 0 ? line : rest.join("") + line) as Message);
      rest = [];
    }
    if (last !== "") rest.push(last);
  });
}

function stdioPeer(name: string, command: string, args: readonly string[]): Peer {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  if (child.pid !== undefined) setPriority(child.pid, NICE);
  const { hear, ask } = askBy((message) => child.stdin.write(`${JSON.stringify(message)}\n`));
  hearLines(child, hear);
  return {
    ...{ name, wall: "none", pid: child.pid },
    ...callsBy(ask),
    async close() {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}

export function jsonRpcNode(): Peer {
  return stdioPeer("JSON-RPC stdio, node", process.execPath, ["-e", NODE_PROGRAM]);
}

export function jsonRpcPython(): Peer {
  return stdioPeer("JSON-RPC stdio, python", "python3", ["-c", PYTHON_PROGRAM]);
}

export function workerThread(): Peer {
  const program = `${ANSWER}
  const { parentPort } = require("node:worker_threads");
  function say(message) { parentPort.postMessage(message); }
  parentPort.on("message", hear);`;
  const worker = new Worker(program, { eval: true });
  const { hear, ask } = askBy((message) => worker.postMessage(message));
  worker.on("message", hear);
  return {
    ...{ name: "worker_threads", wall: "none, the same process", pid: undefined },
    ...callsBy(ask),
    async close() {
      await worker.terminate();
    },
  };
}
