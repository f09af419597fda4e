import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probeLauncher } from "../../../sandbox/os/probe.ts";
import { pdfLaunch } from "../../daemon/pdf-launch.ts";
import { pageWith, pdfOf, pdfWithPages, streamOf } from "../fixtures/pdf-maker.ts";
import { bundlePdfProcess } from "../fixtures/pdf-program.ts";
import { chunkPages } from "./page-chunker.ts";
import { createPdfReader, type PdfReader } from "./pdf-text.ts";

const TIMEOUT = { timeout: 120_000 };
const never = new AbortController().signal;
const work = mkdtempSync(join(tmpdir(), "clawd-pdf-"));
chmodSync(work, 0o755);
afterAll(() => rmSync(work, { recursive: true, force: true }));

const options = { searchPath: "/usr/local/bin:/usr/bin:/bin", nodeBinary: process.execPath } as const;
const boxed = await probeLauncher({ ...options, wanted: "auto" });
const bare = await probeLauncher({ ...options, wanted: "none" });
if (boxed.level !== "bubblewrap") console.warn(`the PDF reader is not tried inside bubblewrap: ${boxed.detail}`);
const launchers = boxed.level === "bubblewrap" ? [boxed, bare] : [bare];

let program = "";
beforeAll(async () => {
  program = await bundlePdfProcess(work);
}, 60_000);

const GIBIBYTE = 1_073_741_824;
const FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
const CATALOG = "<< /Type /Catalog /Pages 2 0 R >>";

describe.each(launchers)("on level $level", (launcher) => {
  function reader(timeLimitMs?: number): PdfReader {
    const launch = () => pdfLaunch(launcher, process.execPath, program)();
    return createPdfReader({ launch, ...(timeLimitMs === undefined ? {} : { timeLimitMs }) });
  }

  async function pagesOf(bytes: Buffer): Promise<readonly string[]> {
    const read = await reader().read(bytes, "x.pdf", never);
    if (!read.ok) throw new Error(read.failure.message);
    return read.value.pages;
  }

  async function failureOf(bytes: Buffer, timeLimitMs?: number) {
    const read = await reader(timeLimitMs).read(bytes, "x.pdf", never);
    return read.ok ? undefined : read.failure;
  }

  test("the text comes page by page, line by line", TIMEOUT, async () => {
    const pages = await pagesOf(pdfWithPages(["first page\nsecond line", "the (second) page", "third"]));
    expect(pages).toEqual(["first page\nsecond line", "the (second) page", "third"]);
    expect(chunkPages(pages).map(({ page, line, text }) => [page, line, text])).toEqual([
      [1, 0, "first page\nsecond line"],
      [2, 0, "the (second) page"],
      [3, 0, "third"],
    ]);
  });

  test("a file is read by its path; a missing one, a link, a folder and a text are no PDF", TIMEOUT, async () => {
    const file = join(work, "a.pdf");
    writeFileSync(file, pdfWithPages(["on disk"]));
    symlinkSync(file, join(work, `link-${launcher.level}.pdf`));
    writeFileSync(join(work, "text.pdf"), "no pdf at all");
    const read = (path: string) => reader().read(path, path, never);
    expect(await read(file)).toMatchObject({ ok: true, value: { pages: ["on disk"], pageCount: 1, truncated: false } });
    expect(await read(join(work, "none.pdf"))).toMatchObject({ failure: { code: "not_found" } });
    expect(await read(join(work, `link-${launcher.level}.pdf`))).toMatchObject({ failure: { code: "unavailable" } });
    expect(await read(work)).toMatchObject({ ok: false });
    expect(await read(join(work, "text.pdf"))).toMatchObject({ failure: { code: "invalid" } });
  });

  test("one without text, an encrypted one and a broken one say so", TIMEOUT, async () => {
    expect(await failureOf(pdfWithPages(["", ""]))).toMatchObject({
      code: "invalid",
      message: "x.pdf: the PDF has no text on its 2 pages",
    });
    const key = "<41424344454647484142434445464748414243444546474841424344454647ff>";
    const encrypt = `/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -1 /O ${key} /U ${key} >>`;
    const pages = "<< /Type /Pages /Kids [4 0 R] /Count 1 >>";
    expect(await failureOf(pdfOf([CATALOG, pages, FONT, pageWith(5), streamOf("")], encrypt))).toMatchObject({
      code: "denied",
      message: "x.pdf: the PDF is encrypted",
    });
    expect(await failureOf(Buffer.from("%PDF-1.7\nrubbish"))).toMatchObject({ code: "invalid" });
    expect(await failureOf(pdfWithPages(["cut off"]).subarray(0, 60))).toMatchObject({ code: "invalid" });
  });

  test("a page tree that goes in a circle ends", TIMEOUT, async () => {
    const loop = pdfOf([CATALOG, "<< /Type /Pages /Kids [2 0 R] /Count 3 >>", FONT]);
    expect(await failureOf(loop)).toMatchObject({ code: "invalid" });
  });

  test("a stream that inflates to a gigabyte takes nothing but its own process down", TIMEOUT, async () => {
    // The same compressed gigabyte, compressed again: some ten kilobytes.
    const bomb = deflateSync(deflateSync(Buffer.alloc(GIBIBYTE), { level: 1 }));
    const head = `<< /Length ${bomb.length} /Filter [/FlateDecode /FlateDecode] >>\nstream\n`;
    const pages = "<< /Type /Pages /Kids [4 0 R] /Count 1 >>";
    const stream = Buffer.concat([Buffer.from(head), bomb, Buffer.from("\nendstream")]);
    const failure = await failureOf(pdfOf([CATALOG, pages, FONT, pageWith(5), stream]), 10_000);
    expect(["invalid", "exhausted", "timed_out"]).toContain(failure?.code);
    expect(await pagesOf(pdfWithPages(["the next one"]))).toEqual(["the next one"]);
  });

  test("more pages than there is time for end with the time, and a signal ends it at once", TIMEOUT, async () => {
    const kids = "4 0 R ".repeat(100_000);
    const pages = `<< /Type /Pages /Kids [${kids}] /Count 100000 >>`;
    const endless = pdfOf([CATALOG, pages, FONT, pageWith(5), streamOf("BT /F1 9 Tf (x) Tj ET")]);
    expect(await failureOf(endless, 300)).toMatchObject({ code: "timed_out" });
    const stop = new AbortController();
    const reading = reader().read(endless, "x.pdf", stop.signal);
    stop.abort();
    expect(await reading).toMatchObject({ failure: { code: "cancelled" } });
  });
});

test("PDFs are read one after another", TIMEOUT, async () => {
  const launch = pdfLaunch(bare, process.execPath, program);
  let alive = 0;
  let most = 0;
  const pdfs = createPdfReader({
    launch() {
      const child = launch();
      alive += 1;
      most = Math.max(most, alive);
      void child.exited.then(() => {
        alive -= 1;
      });
      return child;
    },
  });
  const pdf = pdfWithPages(["words"]);
  const read = await Promise.all([1, 2, 3].map((number) => pdfs.read(pdf, `${number}.pdf`, never)));
  expect(read.every((result) => result.ok)).toBe(true);
  expect(most).toBe(1);
});

test("a PDF that took all its time is not tried again", TIMEOUT, async () => {
  let launched = 0;
  const pdfs = createPdfReader({
    timeLimitMs: 1,
    launch() {
      launched += 1;
      return pdfLaunch(bare, process.execPath, program)();
    },
  });
  for (const text of ["one", "one", "two"])
    expect(await pdfs.read(pdfWithPages([text]), "x.pdf", never)).toMatchObject({ failure: { code: "timed_out" } });
  expect(launched).toBe(2);
});

test("without a process there is a failure, and the next PDF has its turn", async () => {
  const pdfs = createPdfReader({
    launch() {
      throw new Error("no more processes");
    },
  });
  const pdf = pdfWithPages(["words"]);
  for (let time = 0; time < 3; time += 1)
    expect(await pdfs.read(pdf, "x.pdf", never)).toMatchObject({ failure: { code: "unavailable" } });
});
