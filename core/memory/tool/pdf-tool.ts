import { ok, type Result } from "../../domain/failure.ts";
import type { Tool } from "../../domain/tool.ts";
import { cutText, PDF_CUT } from "../source/text-chunker.ts";
import { TEXTS_INDEX, type TextIndex } from "./text-index.ts";
import { answer, failed, firstChars, numberArg, textArg } from "./tool-answer.ts";
import { type OpenPdf, pdfNeeds, type WorkspacePdf } from "./workspace-pdf.ts";

const TIMEOUT_MS = 120_000;
/** Indexing is a favour; whoever waits for the text waits no longer for it. */
const INDEX_LIMIT_MS = 20_000;
const TEXT_LIMIT_CHARS = 200_000;
/** Stands for "all pages". */
const ALL = -1;

/** Text of a PDF for the model; memory keeps it, so that later questions find it. */
export function pdfTool(openPdf: OpenPdf, texts: TextIndex): Tool {
  return {
    name: "pdf_extract_text",
    description:
      "Read the text of a PDF of the workspace, all of it or some pages. It is kept in memory, too, where memory_search finds it.",
    input: {
      type: "object",
      properties: {
        file_path: { type: "string", minLength: 1, description: "The file, relative to the workspace." },
        start_page: { type: "integer", minimum: ALL, description: "First page, from 0; -1 (default) for all." },
        end_page: { type: "integer", minimum: ALL, description: "Last page, from 0; -1 (default) for the last." },
      },
      required: ["file_path"],
      additionalProperties: false,
    },
    aliases: ["extract_pdf_text", "read_pdf", "pdf_read", "pdf_to_text"],
    category: "file_read",
    rerun: "safe",
    timeoutMs: TIMEOUT_MS,
    needs: (args, workspace) => pdfNeeds(textArg(args, "file_path"), workspace),
    async run(args, { signal, workspace }) {
      const read = await openPdf(textArg(args, "file_path"), workspace, signal);
      if (!read.ok) return failed(read.failure);
      const { pages, pageCount } = read.value;
      const last = pages.length - 1;
      const start = Math.min(Math.max(numberArg(args, "start_page", ALL), 0), last);
      const wantedEnd = numberArg(args, "end_page", ALL);
      const end = wantedEnd === ALL ? last : Math.min(Math.max(wantedEnd, start), last);
      const text = pages.slice(start, end + 1).join("\n\n");
      const indexed = await keep(texts, read.value, signal);
      const shown = firstChars(text, TEXT_LIMIT_CHARS, "…");
      return answer({
        success: true,
        text: shown,
        page_count: pageCount,
        length: text.length,
        ...(shown === text ? {} : { note: "the text is longer; ask for fewer pages" }),
        ...(indexed.ok ? {} : { not_indexed: indexed.failure.message }),
      });
    },
  };
}

/** The whole document, whichever pages were asked for. */
async function keep(texts: TextIndex, pdf: WorkspacePdf, signal: AbortSignal): Promise<Result<void>> {
  const chunks = cutText(pdf.pages.join("\n\n"), PDF_CUT);
  if (!chunks.ok) return chunks;
  if (chunks.value.length === 0) return ok(undefined);
  const metadata = JSON.stringify({ source: "pdf", file: pdf.shown });
  const drafts = chunks.value.map((text) => ({ text, metadata, type: "pdf_chunk", source: pdf.real }));
  const stop = AbortSignal.any([signal, AbortSignal.timeout(INDEX_LIMIT_MS)]);
  return texts.replaceSource(TEXTS_INDEX, pdf.real, drafts, stop);
}
