import type { DocumentSource, SourceDocument } from "../../domain/document-source.ts";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { type DocumentFeed, EMPTY_BATCH, type FeedBatch, type FeedContext } from "./document-feed.ts";
import { hashOf, type ReadDocument } from "./source-chunk.ts";
import type { CutTexts } from "./text-cutting.ts";

const SOURCE_LIMIT_DOCUMENTS = 100_000;
/** UTF-16 code units over all documents. */
const SOURCE_LIMIT_CHARS = 268_435_456;
/** A longer document is left out, as a file would be. */
const DOCUMENT_LIMIT_CHARS = 10_485_760;
const BATCH_LIMIT_DOCUMENTS = 64;
const BATCH_LIMIT_CHARS = 1_048_576;

/**
 * The documents of a plugin's source, as a stranger's words. When the source fails or gives more than its limits, what it gave so
 * far is there and the failure comes last: a walk that is not whole takes nothing away.
 */
export function pluginFeed(source: DocumentSource, cut: CutTexts): DocumentFeed {
  return {
    source: source.name,
    gives: "all",
    async *batches(context, signal) {
      let documents = 0;
      let chars = 0;
      let open = openBatch();
      for await (const item of source.documents(signal)) {
        documents += 1;
        if (item.ok) chars += item.value.text.length;
        const fits = documents <= SOURCE_LIMIT_DOCUMENTS && chars <= SOURCE_LIMIT_CHARS;
        const end = !item.ok ? item : fits ? undefined : tooMuch(source);
        if (item.ok && fits) add(open, source, item.value, context);
        const full = open.count >= BATCH_LIMIT_DOCUMENTS || open.chars >= BATCH_LIMIT_CHARS;
        if (end === undefined && !full) continue;
        const batch = await closeBatch(source, cut, open, signal);
        yield batch;
        if (!batch.ok) return;
        if (end !== undefined) {
          yield end;
          return;
        }
        open = openBatch();
      }
      yield await closeBatch(source, cut, open, signal);
    },
  };
}

type News = { readonly key: string; readonly title: string; readonly text: string; readonly hash: string };
type Same = Pick<News, "key" | "hash">;
type OpenBatch = { readonly news: News[]; readonly same: Same[]; skipped: number; count: number; chars: number };

function openBatch(): OpenBatch {
  return { news: [], same: [], skipped: 0, count: 0, chars: 0 };
}

function add(open: OpenBatch, source: DocumentSource, { id, title, text }: SourceDocument, context: FeedContext): void {
  const key = `${source.name}/${id}`;
  open.count += 1;
  if (text.length > DOCUMENT_LIMIT_CHARS) {
    open.skipped += 1;
    return;
  }
  const hash = hashOf(`${title}\0${text}`);
  open.chars += text.length;
  if (context.hashesOf(key).includes(hash)) open.same.push({ key, hash });
  else open.news.push({ key, title, text, hash });
}

async function closeBatch(
  source: DocumentSource,
  cut: CutTexts,
  { news, same, skipped }: OpenBatch,
  signal: AbortSignal,
): Promise<Result<FeedBatch>> {
  const pieces = news.length === 0 ? ok([]) : await cut(news.map(textOf), signal);
  if (!pieces.ok) return pieces;
  const documents = news.map(
    ({ key, hash }, index): ReadDocument => ({
      ...{ source: source.name, key, hash, kind: "document", author: "stranger", sessionId: "", labels: [], atMs: 0 },
      pieces: pieces.value[index] ?? [],
    }),
  );
  return ok({ ...EMPTY_BATCH, documents, same, skipped });
}

function textOf({ key, title, text }: News) {
  return { key, title, text };
}

function tooMuch(source: DocumentSource): Result<never> {
  return fail(
    "exhausted",
    `${source.name} gives more than ${SOURCE_LIMIT_DOCUMENTS} documents or ${SOURCE_LIMIT_CHARS} characters`,
    { hint: "what came first is kept; have the plugin give less" },
  );
}
