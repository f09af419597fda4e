import type { Readable } from "node:stream";
import type { Exit, LeasedProcess } from "../os/launcher.ts";

/** Output of one command that a guest gets, both streams together, bytes. A command that prints more is killed. */
export const OUTPUT_LIMIT_BYTES = 4 * 1024 * 1024;
/** What left an unconfined tree may keep the pipes open after the command's end. */
const DRAIN_LIMIT_MS = 1_000;

export type CommandEnd = {
  readonly why: "exit" | "timeout" | "aborted" | "flood";
  readonly exit: Exit;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
};

/** Feeds a started command and collects what it prints until it has ended, or ends it and all it started. Always resolves. */
export async function collectCommand(
  child: LeasedProcess,
  stdin: Buffer,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CommandEnd> {
  let why: CommandEnd["why"] = "exit";
  let bytes = 0;
  const stop = (because: CommandEnd["why"]) => {
    if (why === "exit") why = because;
    child.kill();
  };
  const onAbort = () => stop("aborted");
  const timer = setTimeout(stop, timeoutMs, "timeout");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  // A command need not read what it is given.
  child.stdin.on("error", () => child.stdin.destroy());
  child.stdin.end(stdin);
  const collect = (stream: Readable) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > OUTPUT_LIMIT_BYTES) stop("flood");
      else chunks.push(chunk);
    });
    return { chunks, closed: closed(stream) };
  };
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  try {
    const exit = await child.exited;
    const drainTimer = setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, DRAIN_LIMIT_MS);
    await Promise.all([stdout.closed, stderr.closed]);
    clearTimeout(drainTimer);
    return { why, exit, stdout: Buffer.concat(stdout.chunks), stderr: Buffer.concat(stderr.chunks) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.once("close", resolve);
    stream.on("error", () => stream.destroy()); // a pipe that broke has nothing more to say
  });
}
