// A plugin that misbehaves on command, to try what that does to clawd and to other plugins: nothing. Try it with:
//   claw plugin install plugins-examples/misbehave
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { servePlugin, tool } from "clawd/plugin";

const MIB = 1024 * 1024;
const hoard: unknown[] = [];

const modes: Readonly<Record<string, () => unknown>> = {
  behave: () => "I was good.",
  refuse: () => Promise.reject(new Error("I do not want to")),
  crash: () => process.abort(),
  kill: () => process.kill(process.pid, "SIGKILL") && pause(60_000),
  exit: () => process.exit(0),
  stumble: () => setImmediate(() => JSON.parse("out of the blue")) && pause(60_000),
  hang: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  late: () => pause(60_000),
  flood: () => {
    for (let mib = 0; mib < 64; mib++) process.stderr.write(`${"e".repeat(1023)}\n`.repeat(1024));
  },
  leak: () => {
    for (;;) hoard.push(Buffer.alloc(16 * MIB, 1));
  },
  fork: async () => {
    const children = Array.from({ length: 200 }, () => spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"]));
    const born = children.map((child) => new Promise((resolve) => child.once("spawn", resolve).once("error", resolve)));
    return `I have ${(await Promise.all(born)).filter((error) => error === undefined).length} of 200 children.`;
  },
  fill: () => {
    for (;;) appendFileSync("/tmp/fill", Buffer.alloc(MIB));
  },
  oversize: () => "x".repeat(5 * MIB),
};

const misbehave = tool<{ mode: string }>({ name: "misbehave", run: async ({ mode }) => String(await modes[mode]?.()) });

await servePlugin({ name: "misbehave", version: "1.0.0", tools: [misbehave] });
