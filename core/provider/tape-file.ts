import type { Stats } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { type Failed, fail, ok, type Result } from "../domain/failure.ts";
import type { Chunk } from "../domain/provider.ts";
import type { PromptDigest } from "./prompt-digest.ts";

/**
 * A tape is a text file of JSON lines. The first is `{"tape":"clawd","version":1}`; each further one is a model call in the
 * order in which the calls ended (`TapeStep`). A last line without a newline was cut off by a crash and does not count.
 */
const TAPE_VERSION = 1;
const FIRST_LINE = JSON.stringify({ tape: "clawd", version: TAPE_VERSION });
const TAPE_LIMIT_BYTES = 64 * 1024 * 1024;
/** Answers are as private as the journal. */
const TAPE_MODE = 0o600;

/** One recorded model call: what it was asked, and the chunks with the milliseconds since the call began. */
export type TapeStep = {
  readonly provider: string;
  readonly model: string;
  readonly digest: PromptDigest;
  /** The beginning of the last message. */
  readonly heard: string;
  readonly chunks: readonly (readonly [ms: number, chunk: Chunk])[];
};

/** The end of a tape file that calls are added to. Several recorders may share one. */
export type TapeWriter = { append(line: string): Promise<Result<void>> };

/** Adds lines to a tape, made when missing. A tail that a crash cut off is removed first. One writer a file at a time. */
export function tapeWriter(file: string): TapeWriter {
  let queue: Promise<unknown> = Promise.resolve();
  let checked = false;

  async function append(line: string): Promise<Result<void>> {
    try {
      await using handle = await open(file, "a+", TAPE_MODE);
      const unfit = unfitFile(file, await handle.stat());
      if (unfit !== undefined) return unfit;
      if (!checked) {
        const text = await handle.readFile("utf8");
        const whole = text.slice(0, text.lastIndexOf("\n") + 1);
        // Anything but a torn first line is somebody's file and stays as it is.
        const begun = FIRST_LINE.startsWith(text) ? ok(undefined) : readFirstLine(file, text.split("\n", 1)[0] ?? "");
        if (!begun.ok) return begun;
        if (whole !== text) await handle.truncate(Buffer.byteLength(whole));
        if (whole === "") await handle.appendFile(`${FIRST_LINE}\n`);
        checked = true;
      }
      await handle.appendFile(`${line}\n`);
      return ok(undefined);
    } catch (cause) {
      // What is at the end of the file now is unknown.
      checked = false;
      const code = errorCode(cause) === "ENOSPC" ? "exhausted" : "unavailable";
      const hint = "give it a place with room, or stop recording";
      return fail(code, `cannot write the tape ${file}: ${messageOf(cause)}`, { hint, cause });
    }
  }

  return {
    append: (line) => {
      const done = queue.then(() => append(line));
      queue = done;
      return done;
    },
  };
}

/** All whole steps of a tape. */
export async function loadTape(file: string): Promise<Result<readonly TapeStep[]>> {
  const text = await readTape(file);
  if (!text.ok) return text;
  const [first = "", ...lines] = text.value.slice(0, text.value.lastIndexOf("\n")).split("\n");
  const begun = readFirstLine(file, first);
  if (!begun.ok) return begun;
  const steps: TapeStep[] = [];
  for (const [index, line] of lines.entries()) {
    const step = readStep(line);
    if (step === undefined) {
      const hint = "remove that line, or record the tape anew";
      return fail("corrupt", `line ${index + 2} of the tape ${file} is not a step`, { hint });
    }
    steps.push(step);
  }
  return ok(steps);
}

async function readTape(file: string): Promise<Result<string>> {
  try {
    return unfitFile(file, await stat(file)) ?? ok(await readFile(file, "utf8"));
  } catch (cause) {
    const code = errorCode(cause) === "ENOENT" ? "not_found" : "unavailable";
    return fail(code, `cannot read the tape ${file}: ${messageOf(cause)}`, {
      hint: "give the path of a recorded tape",
      cause,
    });
  }
}

function unfitFile(file: string, stats: Stats): Failed | undefined {
  // A device may have no end, and a pipe no beginning.
  if (!stats.isFile())
    return fail("invalid", `${file} is not a file that could be a tape`, { hint: "choose another path" });
  if (stats.size <= TAPE_LIMIT_BYTES) return undefined;
  const message = `the tape ${file} is larger than ${TAPE_LIMIT_BYTES / 1024 / 1024} MiB`;
  return fail("exhausted", message, { hint: "begin another tape" });
}

function readFirstLine(file: string, line: string): Result<void> {
  const first = parseObject(line);
  if (first?.tape !== "clawd")
    return fail("corrupt", `${file} is not a tape`, { hint: `a tape begins with the line ${FIRST_LINE}` });
  if (first.version === TAPE_VERSION) return ok(undefined);
  const message = `the tape ${file} has version ${String(first.version)}; this build reads version ${TAPE_VERSION}`;
  return fail("invalid", message, { hint: "record the tape anew" });
}

/** Looks only at what replaying relies on: a tape is our own file, but people edit it. */
function readStep(line: string): TapeStep | undefined {
  const step = parseObject(line);
  if (typeof step?.digest !== "object" || step.digest === null || !Array.isArray(step.chunks)) return undefined;
  const chunks = step.chunks.map((pair: unknown) => (Array.isArray(pair) && isChunk(pair[1]) ? pair[1] : undefined));
  if (
    chunks.length === 0 ||
    chunks.includes(undefined) ||
    chunks.findIndex((chunk) => chunk !== undefined && isLast(chunk)) !== chunks.length - 1
  )
    return undefined;
  return step as TapeStep;
}

function isChunk(value: unknown): value is Chunk {
  if (typeof value !== "object" || value === null || !("kind" in value)) return false;
  return ["delta", "block", "end", "failed"].includes(String(value.kind));
}

/** True for the chunk that ends a stream. */
export function isLast(chunk: Chunk): boolean {
  return chunk.kind === "end" || chunk.kind === "failed";
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function errorCode(cause: unknown): unknown {
  return cause instanceof Error && "code" in cause ? cause.code : undefined;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
