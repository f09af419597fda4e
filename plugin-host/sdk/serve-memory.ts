import { Code, ConnectError } from "@connectrpc/connect";
import { EmbedService, MemorySourceService } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { EmbedderDefinition, MemorySourceDefinition } from "./definition.ts";
import type { Routes } from "./grpc-server.ts";
import { contextOf, type Running } from "./running.ts";

/** Turns texts into vectors. */
export function serveEmbedders(router: Routes, embedders: readonly EmbedderDefinition[], running: Running): void {
  const byId = new Map(embedders.map((one) => [one.id, one]));
  router.service(EmbedService, {
    async embed({ embedder: id, texts, isQuery }, { signal }) {
      const embedder = byId.get(id);
      if (embedder === undefined) throw new ConnectError(`there is no embedder "${id}" here`, Code.NotFound);
      const done = running.work.begin();
      try {
        const context = contextOf(running, AbortSignal.any([signal, running.gone]));
        const vectors = await embedder.embed(texts, isQuery ? "query" : "document", context);
        return { vectors: vectors.map((values) => ({ values: [...values] })) };
      } catch (cause) {
        throw told(cause);
      } finally {
        done();
      }
    },
  });
}

/** Gives the documents of its sources. */
export function serveMemorySources(router: Routes, sources: readonly MemorySourceDefinition[], running: Running): void {
  const byName = new Map(sources.map((one) => [one.name, one]));
  router.service(MemorySourceService, {
    async *listDocuments({ source: name }, { signal }) {
      const source = byName.get(name);
      if (source === undefined) throw new ConnectError(`there is no memory source "${name}" here`, Code.NotFound);
      const done = running.work.begin();
      try {
        const context = contextOf(running, AbortSignal.any([signal, running.gone]));
        for await (const { id, text, title = "" } of source.documents(context)) {
          yield { documentId: id, text, title };
        }
      } catch (cause) {
        throw told(cause);
      } finally {
        done();
      }
    },
  });
}

/** The author's words reach the host, with a code by which it knows them from those of a process that breaks. */
export function told(cause: unknown): ConnectError {
  console.error(cause);
  // One of the host's services refused something, say: its code is about that, and not about what the host asked for.
  if (cause instanceof ConnectError) return new ConnectError(cause.rawMessage, Code.Aborted);
  return new ConnectError(cause instanceof Error ? cause.message : String(cause), Code.Aborted);
}
