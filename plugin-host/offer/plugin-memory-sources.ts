import type { DocumentSource, SourceDocument } from "../../core/domain/document-source.ts";
import { ok, type Result } from "../../core/domain/failure.ts";
import type { ListDocumentsResponse } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { CallQueue } from "../life/call-queue.ts";
import { brokeContract, hearPlugin } from "./hear-plugin.ts";
import type { OfferParts } from "./offer-parts.ts";

const SOURCE_LIMIT_DOCUMENTS = 100_000;
/** UTF-16 code units over all documents. */
const SOURCE_LIMIT_UNITS = 1024 * 1024 * 1024;
const ID_LIMIT_CHARS = 1_024;
const TITLE_LIMIT_CHARS = 1_024;
/** Between two documents. */
const SILENCE_MS = 60_000;
const SOURCE_LIMIT_MS = 60 * 60_000;

/** As the manifest declares it. */
export type DeclaredSource = { readonly name: string; readonly description: string };

/** A plugin's source of documents as the daemon sees it. */
export function makePluginSource(parts: OfferParts, queue: CallQueue, declared: DeclaredSource): DocumentSource {
  const what = `memory source "${declared.name}"`;
  return {
    name: `plugin:${parts.manifest.name}/${declared.name}`,
    description: declared.description,
    async *documents(signal): AsyncGenerator<Result<SourceDocument>, void, undefined> {
      const read = documentReader();
      const question = { what, queue, silenceMs: SILENCE_MS, wholeMs: SOURCE_LIMIT_MS } as const;
      const news = hearPlugin(
        parts,
        { ...question, ask: (link, end) => link.listDocuments(declared.name, end) },
        signal,
      );
      for await (const item of news) {
        if (!item.ok) {
          yield item;
          return;
        }
        const heard = read(item.value);
        if ("problem" in heard) {
          yield brokeContract(parts, what, heard.problem);
          return;
        }
        yield ok(heard);
      }
    },
  };
}

function documentReader(): (news: ListDocumentsResponse) => SourceDocument | { readonly problem: string } {
  const ids = new Set<string>();
  let units = 0;
  return ({ documentId: id, title, text }) => {
    if (id === "" || id.length > ID_LIMIT_CHARS) {
      return { problem: `gave a document whose id has ${id.length} characters; 1 to ${ID_LIMIT_CHARS} are allowed` };
    }
    if (ids.has(id)) return { problem: `gave the document ${JSON.stringify(id.slice(0, 100))} twice` };
    ids.add(id);
    units += text.length;
    if (ids.size > SOURCE_LIMIT_DOCUMENTS) return { problem: `gave more than ${SOURCE_LIMIT_DOCUMENTS} documents` };
    if (units > SOURCE_LIMIT_UNITS) return { problem: "gave more than 1 Gi characters" };
    return { id, title: title.slice(0, TITLE_LIMIT_CHARS).toWellFormed(), text };
  };
}
