import { fail, ok, type Result } from "../../domain/failure.ts";

// The entry of the process that reads one PDF: a line with the request on standard input, then the bytes of the file; one answer
// on standard output. A process of its own, because a PDF is a stranger's program: a page of it can inflate to gigabytes or keep an
// interpreter busy for ever, and only a SIGKILL stops everything.

const LINE_LIMIT_BYTES = 1_024;
const NEWLINE = 10;

export type PdfRequest = {
  /** How many bytes of the file follow. */
  readonly sizeBytes: number;
  readonly limitPages: number;
  readonly limitChars: number;
};

/** `pageCount` is of the whole file; `pages` ends where a limit was met, and then `truncated` says so. */
export type PdfText = { readonly pages: readonly string[]; readonly pageCount: number; readonly truncated: boolean };

const NO_PDF = { hint: "check that the file is a PDF and is whole" };

async function readText(bytes: Uint8Array, limits: PdfRequest): Promise<Result<PdfText>> {
  const { getDocumentProxy } = await import("unpdf");
  try {
    const document = await getDocumentProxy(bytes, {
      useSystemFonts: false,
      disableFontFace: true,
      stopAtErrors: false,
      verbosity: 0,
    });
    return await readPages(document, limits);
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : "";
    if (name === "PasswordException") {
      return fail("denied", "the PDF is encrypted", { hint: "remove its password and try again" });
    }
    return fail("invalid", `it cannot be read as a PDF: ${describe(cause)}`, NO_PDF);
  }
}

type Document = Awaited<ReturnType<typeof import("unpdf")["getDocumentProxy"]>>;

async function readPages(document: Document, { limitPages, limitChars }: PdfRequest): Promise<Result<PdfText>> {
  const pageCount = document.numPages;
  const pages: string[] = [];
  let chars = 0;
  let broken: unknown;
  for (let number = 1; number <= pageCount && number <= limitPages && chars < limitChars; number += 1) {
    // One page that is broken does not take the others down with it.
    const text = await readPage(document, number).catch((cause: unknown) => {
      broken ??= cause;
      return "";
    });
    pages.push(text.slice(0, limitChars - chars));
    chars += text.length;
  }
  if (pages.every((page) => page.trim() === "")) {
    if (broken !== undefined) return fail("invalid", `none of its pages can be read: ${describe(broken)}`, NO_PDF);
    return fail("invalid", `the PDF has no text on its ${pageCount} pages`, {
      hint: "it may hold pictures of text only; run a text recognition over it first",
    });
  }
  return ok({ pages, pageCount, truncated: pages.length < pageCount || chars > limitChars });
}

async function readPage(document: Document, number: number): Promise<string> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  const text = items.map((item) => ("str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : "")).join("");
  page.cleanup();
  return text.replaceAll("\0", " ").toWellFormed();
}

function describe(cause: unknown): string {
  return cause instanceof Error ? cause.message.trim() : String(cause);
}

function reply(result: Result<PdfText>): void {
  const plain = result.ok ? result : { ok: false, failure: { ...result.failure, cause: undefined } };
  process.stdout.write(`${JSON.stringify(plain)}\n`, () => process.kill(process.pid, "SIGKILL"));
}

/** Takes the request and its file off standard input, piece by piece. */
function listen(): void {
  let head = Buffer.alloc(0);
  let request: PdfRequest | undefined;
  let file = new Uint8Array();
  let filled = 0;
  process.stdin.on("data", (news: Buffer) => {
    let piece = news;
    if (request === undefined) {
      head = Buffer.concat([head, piece]);
      const end = head.indexOf(NEWLINE);
      if (end < 0 && head.length > LINE_LIMIT_BYTES) throw new Error("the request has no end");
      if (end < 0) return;
      request = JSON.parse(head.toString("utf8", 0, end)) as PdfRequest;
      file = new Uint8Array(request.sizeBytes);
      piece = head.subarray(end + 1);
    }
    file.set(piece, filled);
    filled += piece.length;
    if (filled < file.length) return;
    readText(file, request).then(reply, (cause: unknown) =>
      reply(fail("unavailable", `the PDF reader failed: ${describe(cause)}`, { hint: "try again" })),
    );
  });
  // Standard input is the lease: its end means that nobody waits for the answer any more.
  process.stdin.once("close", () => process.kill(process.pid, "SIGKILL"));
}

listen();
