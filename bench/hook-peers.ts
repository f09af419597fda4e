// Other ways to run a stranger's function: what each makes of the same event, JSON text in and JSON text out.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
import { getQuickJS } from "quickjs-emscripten";

/** One way of doing it. Times are milliseconds. */
export type Peer = {
  readonly name: string;
  /** What kind of wall there is around the function. */
  readonly wall: string;
  /** How often it is called in one round: a process per call is dear. */
  readonly callsPerRound: number;
  /** Latencies of so many calls, one after the other. */
  call(times: number): Promise<number[]>;
  /** Time until a function that was never seen has answered once; undefined where every call is that. */
  readonly cold: (() => Promise<number>) | undefined;
  close(): Promise<void>;
};

const HANDLER = "(event) => ({ modify: event })";
const DENO = join(import.meta.dirname, "../node_modules/deno/deno");

/** The text of an event of about a kilobyte. */
export const EVENT_TEXT = JSON.stringify({
  at: "tool.before",
  value: { tool: "write", args: { text: "x".repeat(940) } },
});

async function timed(times: number, once: () => Promise<void>): Promise<number[]> {
  const samples: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const startedMs = performance.now();
    await once();
    samples.push(performance.now() - startedMs);
  }
  return samples;
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) =>
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`a peer exited with ${code}`)))),
  );
}

/** A process per call that reads the event from its stdin. */
function processPeer(name: string, wall: string, command: string, args: readonly string[]): Peer {
  const once = async () => {
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], env: { DENO_NO_UPDATE_CHECK: "1" } });
    let answer = "";
    child.stdout.on("data", (chunk) => {
      answer += chunk;
    });
    child.stdin.end(EVENT_TEXT);
    await ended(child);
    JSON.parse(answer);
  };
  return { name, wall, callsPerRound: 3, call: (times) => timed(times, once), cold: undefined, close: async () => {} };
}

export function nodeProcess(folder: string): Peer {
  const file = join(folder, "peer-node.mjs");
  writeFileSync(
    file,
    `import { readFileSync } from "node:fs"; const hook = ${HANDLER};
    process.stdout.write(JSON.stringify(hook(JSON.parse(readFileSync(0, "utf8")))));`,
  );
  return processPeer("a Node process per call", "none", process.execPath, [file]);
}

export function denoRun(folder: string): Peer {
  const file = join(folder, "peer-deno.ts");
  writeFileSync(
    file,
    `const hook = ${HANDLER};
    console.log(JSON.stringify(hook(JSON.parse(await new Response(Deno.stdin.readable).text()))));`,
  );
  return processPeer("deno run per call", "process, permissions", DENO, ["run", "--no-prompt", "--quiet", file]);
}

/** Workers inside one Deno process, which measures itself. */
export function denoWorker(folder: string): Peer {
  const worker = join(folder, "peer-worker.js");
  writeFileSync(
    worker,
    `const hook = ${HANDLER}; self.onmessage = ({ data }) => self.postMessage(JSON.stringify(hook(JSON.parse(data))));`,
  );
  const file = join(folder, "peer-worker-host.js");
  writeFileSync(
    file,
    `const text = ${JSON.stringify(EVENT_TEXT)};
    const open = () => new Worker(${JSON.stringify(`file://${worker}`)}, { type: "module", deno: { permissions: "none" } });
    const ask = (worker) => new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(JSON.parse(data)); worker.postMessage(text); });
    const warm = open();
    const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
    let rest = "";
    for await (const chunk of lines) {
      rest += chunk;
      for (let at; (at = rest.indexOf("\\n")) >= 0; rest = rest.slice(at + 1)) {
        const [what, times] = rest.slice(0, at).split(" ");
        const samples = [];
        for (let i = 0; i < Number(times); i++) {
          const started = performance.now();
          const worker = what === "cold" ? open() : warm;
          await ask(worker);
          samples.push(performance.now() - started);
          if (what === "cold") worker.terminate();
        }
        console.log(JSON.stringify(samples));
      }
    }
    Deno.exit(0);`,
  );
  const child = spawn(DENO, ["run", "--no-prompt", "--quiet", "--allow-read", "--unstable-worker-options", file], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { DENO_NO_UPDATE_CHECK: "1" },
  });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  const measure = async (what: string, times: number): Promise<number[]> => {
    child.stdin.write(`${what} ${times}\n`);
    const { value } = await answers.next();
    return JSON.parse(value ?? "[]");
  };
  return {
    name: "a Deno worker",
    wall: "permissions, in the same process",
    callsPerRound: 200,
    call: (times) => measure("warm", times),
    cold: async () => (await measure("cold", 1))[0] ?? Number.NaN,
    async close() {
      child.stdin.end();
      await ended(child);
    },
  };
}

const THREAD = `const { parentPort } = require("node:worker_threads"); const hook = ${HANDLER};
parentPort.on("message", (text) => parentPort.postMessage(JSON.stringify(hook(JSON.parse(text)))));`;

function askThread(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once("message", (text) => {
      JSON.parse(text);
      resolve();
    });
    worker.postMessage(EVENT_TEXT);
  });
}

/** A thread for a function. */
export function openThread(): Worker {
  return new Worker(THREAD, { eval: true });
}

export function workerThread(): Peer {
  const warm = openThread();
  return {
    name: "worker_threads",
    wall: "none",
    callsPerRound: 200,
    call: (times) => timed(times, () => askThread(warm)),
    async cold() {
      const startedMs = performance.now();
      const worker = openThread();
      await askThread(worker);
      const ms = performance.now() - startedMs;
      await worker.terminate();
      return ms;
    },
    async close() {
      await warm.terminate();
    },
  };
}

/** A QuickJS context with the function in it. */
export async function openQuickJs(): Promise<{ ask(): void; dispose(): void }> {
  const quickjs = await getQuickJS();
  const runtime = quickjs.newRuntime();
  const context = runtime.newContext();
  const hook = context.unwrapResult(
    context.evalCode(`((hook) => (text) => JSON.stringify(hook(JSON.parse(text))))(${HANDLER})`),
  );
  return {
    ask() {
      const text = context.newString(EVENT_TEXT);
      const answer = context.unwrapResult(context.callFunction(hook, context.undefined, text));
      JSON.parse(context.getString(answer));
      answer.dispose();
      text.dispose();
    },
    dispose() {
      hook.dispose();
      context.dispose();
      runtime.dispose();
    },
  };
}

export async function quickJs(): Promise<Peer> {
  const warm = await openQuickJs();
  return {
    name: "quickjs-emscripten",
    wall: "wasm, in the same thread",
    callsPerRound: 200,
    call: (times) => timed(times, async () => warm.ask()),
    async cold() {
      const startedMs = performance.now();
      const context = await openQuickJs();
      context.ask();
      const ms = performance.now() - startedMs;
      context.dispose();
      return ms;
    },
    close: async () => warm.dispose(),
  };
}

/** Resident memory of a process, MiB. */
export function rssMib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}
