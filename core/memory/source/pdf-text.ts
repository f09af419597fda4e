import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { type Failed, fail, ok, type Result } from "../../domain/failure.ts";
import type { PdfRequest, PdfText } from "./pdf-process.ts";
import { hashOf } from "./source-chunk.ts";

export type { PdfText };

const TIME_LIMIT_MS = 60_000;
const FILE_LIMIT_BYTES = 67_108_864;
const RUNNING_LIMIT = 1;
const WAITING_LIMIT = 64;
const LIMITS: Omit<PdfRequest, "sizeBytes"> = { limitPages: 20_000, limitChars: 8_388_608 };
/** Every character of the text as an escape, and then some. */
const ANSWER_LIMIT_BYTES = 67_108_864;
const COMPLAINT_LIMIT_CHARS = 2_000;
/** How many PDFs are known that took all they were given: they are not tried again. */
const KNOWN_LIMIT = 256;
const SIGNATURE = "%PDF-";
/** Readers of PDFs forgive what stands before it. */
const SIGNATURE_WITHIN_BYTES = 1_024;

/** A process that runs the bundled pdf-process, and nothing else; its whole tree dies by `kill`. */
export type PdfChild = {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The process is gone. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  kill(): void;
};

export type PdfReaderOptions = {
  /**
   * Starts the bundled pdf-process: with no network, no files but its own, and a limit on its memory, for what it reads is a
   * stranger's. May throw when there can be no process.
   */
  readonly launch: () => PdfChild;
  /** For one PDF, 60 s by default. */
  readonly timeLimitMs?: number;
};

/**
 * Text of PDFs by pages, each read in a process of its own, one at a time. `not_found`: no such file; `invalid`: no PDF, or without a
 * text; `denied`: encrypted; `exhausted`: over 64 MiB, or more than its process can take; `timed_out`.
 */
export type PdfReader = {
  /** `file` is an absolute path, or the bytes themselves; `name` is what messages call it. */
  read(file: string | Uint8Array, name: string, signal: AbortSignal): Promise<Result<PdfText>>;
};

export function createPdfReader(options: PdfReaderOptions): PdfReader {
  const waiting: (() => void)[] = [];
  /** By hash; a run over a folder would meet them every time. */
  const known = new Map<string, Failed>();
  let running = 0;

  async function enter(): Promise<boolean> {
    if (running < RUNNING_LIMIT) {
      running += 1;
      return true;
    }
    if (waiting.length >= WAITING_LIMIT) return false;
    await new Promise<void>((resolve) => waiting.push(resolve));
    return true;
  }

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return {
    async read(file, name, signal) {
      if (!(await enter())) {
        return fail("exhausted", `${WAITING_LIMIT} PDFs wait to be read already`, { hint: "try again when they are" });
      }
      try {
        if (signal.aborted) return stopped(name);
        const bytes = typeof file === "string" ? await readBytes(file, name) : ok(file);
        if (!bytes.ok) return bytes;
        const hash = hashOf(bytes.value);
        const wrong = judgeBytes(bytes.value, name) ?? known.get(hash);
        if (wrong !== undefined) return wrong;
        const read = await ask(options, bytes.value, name, signal);
        if (!read.ok && isCostly(read) && known.size < KNOWN_LIMIT) known.set(hash, read);
        return read;
      } finally {
        leave();
      }
    },
  };
}

function isCostly({ failure }: Failed): boolean {
  return failure.code === "exhausted" || failure.code === "timed_out";
}

async function readBytes(file: string, name: string): Promise<Result<Uint8Array>> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (!stat.isFile()) return fail("invalid", `${name} is not a file`, { hint: "give the path of a PDF" });
    return stat.size > FILE_LIMIT_BYTES ? tooLarge(name, stat.size) : ok(await handle.readFile());
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT")
      return fail("not_found", `there is no file ${name}`, { hint: "check its path" });
    return fail("unavailable", `${name} cannot be read: ${String(cause)}`, { hint: "check its permissions", cause });
  } finally {
    await handle?.close();
  }
}

function judgeBytes(bytes: Uint8Array, name: string): Failed | undefined {
  if (bytes.length > FILE_LIMIT_BYTES) return tooLarge(name, bytes.length);
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SIGNATURE_WITHIN_BYTES));
  if (start.includes(SIGNATURE)) return undefined;
  return fail("invalid", `${name} is not a PDF`, { hint: "give the path of a PDF" });
}

function tooLarge(name: string, size: number): Failed {
  return fail("exhausted", `${name} has ${size} bytes; a PDF is read up to ${FILE_LIMIT_BYTES}`, {
    hint: "split it",
  });
}

async function ask(
  { launch, timeLimitMs = TIME_LIMIT_MS }: PdfReaderOptions,
  bytes: Uint8Array,
  name: string,
  signal: AbortSignal,
): Promise<Result<PdfText>> {
  let child: PdfChild;
  try {
    child = launch();
  } catch (cause) {
    return fail("unavailable", `no process to read ${name} could be started: ${String(cause)}`, {
      hint: "claw doctor shows what is missing",
      cause,
    });
  }
  const timeout = AbortSignal.timeout(timeLimitMs);
  const kill = () => child.kill();
  const stop = AbortSignal.any([signal, timeout]);
  stop.addEventListener("abort", kill, { once: true });
  try {
    const heard = await hear(child, bytes);
    if (signal.aborted) return stopped(name);
    if (timeout.aborted) {
      return fail("timed_out", `reading ${name} took longer than ${timeLimitMs / 1_000} s`, {
        hint: "it may be made to; split it, or leave it out",
      });
    }
    return settle(heard, name);
  } finally {
    stop.removeEventListener("abort", kill);
    child.kill();
  }
}

type Heard = { readonly answer: string; readonly complaint: string; readonly end: string };

function settle(heard: Heard, name: string): Result<PdfText> {
  const answer = heard.answer.endsWith("\n") ? readAnswer(heard.answer) : undefined;
  if (answer === undefined) {
    const said = heard.complaint.trim().split("\n");
    const reason = said.find((line) => /error/i.test(line)) || said[0] || "no message";
    return fail("exhausted", `${name} is more than the PDF reader can take (${heard.end}): ${reason}`, {
      hint: "split it, or leave it out",
    });
  }
  return answer.ok
    ? answer
    : { ok: false, failure: { ...answer.failure, message: `${name}: ${answer.failure.message}` } };
}

/** What the process says is heard as if the PDF itself said it. */
function readAnswer(answer: string): Result<PdfText> | undefined {
  try {
    const said = JSON.parse(answer) as Result<PdfText>;
    if (!said.ok) return fail(said.failure.code, String(said.failure.message), { hint: String(said.failure.hint) });
    const { pages, pageCount, truncated } = said.value;
    const isText = Array.isArray(pages) && pages.every((page) => typeof page === "string");
    return isText ? ok({ pages, pageCount: Number(pageCount), truncated: truncated === true }) : undefined;
  } catch {
    return undefined;
  }
}

/** Everything the process said, when it is gone. */
async function hear(child: PdfChild, bytes: Uint8Array): Promise<Heard> {
  const pieces: Buffer[] = [];
  let length = 0;
  let complaint = "";
  child.stdout.on("data", (piece: Buffer) => {
    length += piece.length;
    if (length > ANSWER_LIMIT_BYTES) child.kill();
    else pieces.push(piece);
  });
  child.stderr.on("data", (piece: Buffer) => {
    complaint = (complaint + piece.toString("utf8")).slice(0, COMPLAINT_LIMIT_CHARS);
  });
  const said = Promise.all([ended(child.stdout), ended(child.stderr)]);
  // A process that died early closes the pipe; its end says why.
  child.stdin.on("error", () => {});
  const request: PdfRequest = { ...LIMITS, sizeBytes: bytes.length };
  child.stdin.write(`${JSON.stringify(request)}\n`);
  child.stdin.write(bytes);
  const { code, signal } = await child.exited;
  await said;
  return { answer: Buffer.concat(pieces).toString("utf8"), complaint, end: signal ?? `exit code ${code}` };
}

function ended(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.once("close", resolve);
    stream.once("error", () => resolve());
  });
}

function stopped(name: string): Result<never> {
  return fail("cancelled", `reading ${name} was stopped`, { hint: "read it again" });
}
