import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";
import type { Exit, LeasedProcess } from "../../sandbox/os/launcher.ts";
import type { ToolContext } from "../domain/tool.ts";
import { openOutputWindow } from "./output-window.ts";

/** Kept of each stream: this much of its beginning and of its end. */
const WINDOW_BYTES = 20_000;
/** A command that writes more than this in all is killed: reading it would keep the daemon busy with nothing. */
const FLOOD_LIMIT_BYTES = 64 * 1024 * 1024;
const PROGRESS_LIMIT_LINES = 1_000;
const PROGRESS_LINE_LIMIT_CHARS = 500;
/** A process that escaped an unconfined tree may keep the pipes open after the command's end. */
const DRAIN_LIMIT_MS = 1_000;

export type CommandEnd = {
  readonly why: "exit" | "timeout" | "aborted" | "flood";
  readonly exit: Exit;
  readonly stdout: string;
  readonly stderr: string;
};

/** Drains a started command until its end, or ends it and all it started. Always resolves. */
export async function followCommand(
  child: LeasedProcess,
  timeoutMs: number,
  { signal, progress }: Pick<ToolContext, "signal" | "progress">,
): Promise<CommandEnd> {
  let why: CommandEnd["why"] = "exit";
  const stop = (because: CommandEnd["why"]) => {
    if (why === "exit") why = because;
    child.kill();
  };
  const onAbort = () => stop("aborted");
  const timer = setTimeout(stop, timeoutMs, "timeout");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  child.stdin.end();

  let linesLeft = PROGRESS_LIMIT_LINES;
  let bytes = 0;
  const show = (line: string) => {
    if (linesLeft > 0) progress(line);
    else if (linesLeft === 0) progress("(what follows is not shown live)");
    linesLeft -= 1;
  };
  const drained = [child.stdout, child.stderr].map((stream) => {
    const window = openOutputWindow(WINDOW_BYTES);
    const lines = splitLines(show);
    stream.on("data", (chunk: Buffer) => {
      window.add(chunk);
      bytes += chunk.length;
      if (bytes > FLOOD_LIMIT_BYTES) stop("flood");
      if (linesLeft >= 0) lines.add(chunk);
    });
    return { window, closed: closed(stream).then(lines.end) };
  });
  try {
    const exit = await child.exited;
    const ended = why; // a limit that is met while the pipes run dry has ended nothing
    const drainTimer = setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, DRAIN_LIMIT_MS);
    await Promise.all(drained.map((each) => each.closed));
    clearTimeout(drainTimer);
    const [stdout = "", stderr = ""] = drained.map((each) => each.window.print());
    return { why: ended, exit, stdout, stderr };
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

/** Cuts a stream into lines; one that is too long is shown by its beginning. */
function splitLines(show: (line: string) => void): { add(chunk: Buffer): void; end(): void } {
  const decoder = new StringDecoder("utf8");
  let open = "";
  const tell = (line: string) => show(stripVTControlCharacters(line).slice(0, PROGRESS_LINE_LIMIT_CHARS));
  return {
    add(chunk) {
      const lines = `${open}${decoder.write(chunk)}`.split("\n");
      open = (lines.pop() ?? "").slice(0, 2 * PROGRESS_LINE_LIMIT_CHARS);
      for (const line of lines) tell(line);
    },
    end() {
      if (open !== "") tell(open);
    },
  };
}
