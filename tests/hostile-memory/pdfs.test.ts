import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pageWith, pdfOf, pdfWithPages, streamOf } from "../../core/memory/fixtures/pdf-maker.ts";
import { type MemoryHouse, openMemoryHouse } from "../kit/memory-house.ts";
import { THOROUGH } from "../kit/thoroughness.ts";

// PDFs whose author wants their reader to climb for ever, to fill memory, or to go in circles.

const CATALOG = "<< /Type /Catalog /Pages 2 0 R >>";
const FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
const ONE_PAGE = "<< /Type /Pages /Kids [4 0 R] /Count 1 >>";
const DRAWN = "BT /F1 9 Tf (kangaroo) Tj ET";

function deepTree(depth: number): Buffer {
  const nodes = Array.from(
    { length: depth },
    (_, at) => `<< /Type /Pages /Parent ${at + 5} 0 R /Kids [${at + 7} 0 R] /Count 1 >>`,
  );
  const root = "<< /Type /Pages /Kids [6 0 R] /Count 1 >>";
  return pdfOf([CATALOG, root, FONT, "<< >>", streamOf(DRAWN), ...nodes, pageWith(5)]);
}

/** A form that draws itself twice, and each of those twice again. */
function drawsItself(): Buffer {
  const page =
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /X 6 0 R >> >> /Contents 5 0 R >>";
  const content = "/X Do /X Do";
  const form = `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >> /Length ${content.length} >>\nstream\n${content}\nendstream`;
  return pdfOf([CATALOG, ONE_PAGE, FONT, page, streamOf(content), form]);
}

/** Forms that draw the next one ten times each: ten to the power of their number. */
function billionLaughs(levels: number): Buffer {
  const page =
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /X 6 0 R >> >> /Contents 5 0 R >>";
  const forms = Array.from({ length: levels }, (_, at) => {
    const content = at === levels - 1 ? DRAWN : "/X Do ".repeat(10);
    const resources = `<< /Font << /F1 3 0 R >> /XObject << /X ${Math.min(at + 7, levels + 5)} 0 R >> >>`;
    return `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources ${resources} /Length ${content.length} >>\nstream\n${content}\nendstream`;
  });
  return pdfOf([CATALOG, ONE_PAGE, FONT, page, streamOf("/X Do"), ...forms]);
}

/** Its table of objects says that the one before it is itself. */
function tableInACircle(): Buffer {
  const whole = pdfOf([CATALOG, ONE_PAGE, FONT, pageWith(5), streamOf(DRAWN)], "/Prev 00000");
  const text = whole.toString("latin1");
  const start = String(text.lastIndexOf("xref\n0 ")).padStart(5, "0");
  return Buffer.from(text.replace("/Prev 00000", `/Prev ${start}`), "latin1");
}

function tableOfTwoBillion(): Buffer {
  const table = deflateSync(Buffer.alloc(64));
  const head = `1 0 obj\n<< /Type /XRef /Size 2147483647 /Index [0 2147483647] /W [1 4 2] /Root 2 0 R /Length ${table.length} /Filter /FlateDecode >>\nstream\n`;
  return Buffer.concat([
    Buffer.from(`%PDF-1.7\n${head}`),
    table,
    Buffer.from("\nendstream\nendobj\nstartxref\n9\n%%EOF\n"),
  ]);
}

/** Objects without a table: a reader has to look for them all. */
function withoutTable(objects: number): Buffer {
  const parts = Array.from({ length: objects }, (_, at) => `${at + 1} 0 obj\n<< /A ${at + 2} 0 R >>\nendobj\n`);
  return Buffer.from(`%PDF-1.7\n${parts.join("")}trailer\n<< /Root 1 0 R >>\nstartxref\n999999999\n%%EOF\n`);
}

/** These take a minute each. */
const SLOW = ["laughs.pdf", "no-table.pdf", "words.pdf"];

const ALL_PDFS: Readonly<Record<string, () => Buffer>> = {
  "deep.pdf": () => deepTree(100_000),
  "itself.pdf": drawsItself,
  "laughs.pdf": () => billionLaughs(12),
  "circle.pdf": tableInACircle,
  "billions.pdf": tableOfTwoBillion,
  "no-table.pdf": () => withoutTable(100_000),
  "lists.pdf": () => pdfOf([CATALOG, ONE_PAGE, FONT, pageWith(5), streamOf(`${"[".repeat(1_000_000)} TJ`)]),
  "dictionaries.pdf": () => pdfOf([`${"<< /A ".repeat(500_000)}1${" >>".repeat(500_000)}`, ONE_PAGE, FONT]),
  "words.pdf": () =>
    pdfOf([CATALOG, ONE_PAGE, FONT, pageWith(5), streamOf(`BT /F1 9 Tf ${"(x) Tj ".repeat(3_000_000)} ET`)]),
  "length.pdf": () =>
    pdfOf([CATALOG, ONE_PAGE, FONT, pageWith(5), `<< /Length 99999999999 >>\nstream\n${DRAWN}\nendstream`]),
  "filters.pdf": () =>
    pdfOf([
      ...[CATALOG, ONE_PAGE, FONT, pageWith(5)],
      `<< /Length 9 /Filter [${"/ASCIIHexDecode ".repeat(50_000)}] >>\nstream\n41424344>\nendstream`,
    ]),
};

const PDFS = Object.entries(ALL_PDFS).filter(([name]) => THOROUGH || !SLOW.includes(name));
if (!THOROUGH) console.info(`left to CLAWD_THOROUGH=1: ${SLOW.join(", ")}`);

let house: MemoryHouse;
beforeEach(async () => {
  house = await openMemoryHouse();
});
afterEach(() => house.close());

test("no PDF keeps the others from being read, nor the daemon from answering, and none is read twice", {
  timeout: 280_000,
}, async () => {
  await writeFile(join(house.workspace, "whole.pdf"), pdfWithPages(["The kangaroo is whole."]));
  for (const [name, make] of PDFS) await writeFile(join(house.workspace, name), make());
  await house.up();
  const startMs = performance.now();
  let slowestMs = 0;
  let over = false;
  const indexed = house.index().finally(() => {
    over = true;
  });
  while (!over) {
    const before = performance.now();
    await house.dial().daemon.status({});
    slowestMs = Math.max(slowestMs, performance.now() - before);
  }
  await indexed;
  const firstMs = performance.now() - startMs;
  console.log(`read after ${Math.round(firstMs)} ms; the slowest answer meanwhile took ${Math.round(slowestMs)} ms`);
  expect((await house.texts("whole")).join()).toContain("The kangaroo is whole.");
  const { problems } = await house.dial().memory.verifyMemory({});
  expect(problems).toEqual([]);
  const { errors, files } = await house.dial().memory.stats({});
  console.log(`${files} with text, ${errors} without`);
  expect(files + errors).toBe(PDFS.length + 1);
  const again = performance.now();
  await house.index();
  console.log(`looked at again within ${Math.round(performance.now() - again)} ms`);
});
