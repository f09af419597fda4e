import { stat } from "node:fs/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import {
  type IndexRequest,
  type MemoryHitSchema,
  type MemoryNoteSchema,
  MemoryService,
  type MemoryViewer,
  type RememberRequest,
  type SearchRequest,
  type MemoryFilter as WireFilter,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
import { type Failed, fail, ok, type Result } from "../domain/failure.ts";
import {
  IMPORTANCES,
  type IndexTarget,
  MEMORY_KINDS,
  type Memory,
  type MemoryAuthor,
  type MemoryFilter,
  type MemoryHit,
  type MemoryQuery,
  type MemoryScope,
  type Note,
  type NoteDraft,
  SEARCH_MODES,
  type Viewer,
} from "../domain/memory.ts";
import { unwrap } from "./connect-failure.ts";
import { readFolder } from "./folder-path.ts";

const SEARCH_LIMIT = 10;
const LIST_LIMIT = 100;
const AUTHORS: readonly MemoryAuthor[] = ["owner", "agent", "file", "stranger"];

export function routeMemory(router: ConnectRouter, memory: Memory): void {
  router.service(MemoryService, {
    async *index(request, { signal }) {
      for await (const progress of memory.index(unwrap(readTarget(request)), signal)) yield unwrap(progress);
    },
    async search(request, { signal }) {
      const { hits, legs } = unwrap(await memory.search(unwrap(readQuery(request)), signal));
      return { hits: hits.map(wireHit), legs };
    },
    async remember(request) {
      const { id, similar } = unwrap(await memory.remember(unwrap(readDraft(request))));
      return { memoryId: id, similar: similar.map(wireNote) };
    },
    async forget({ memoryId, memoryIds, viewer }) {
      const ids = memoryId === "" ? memoryIds : [memoryId, ...memoryIds];
      return { forgotten: unwrap(await memory.forget(ids, unwrap(readViewer(viewer)))).map(wireNote) };
    },
    async listNotes({ viewer, limit, all, memoryIds: ids }) {
      const options = { limit: limit === 0 ? LIST_LIMIT : limit, all, ...(ids.length === 0 ? {} : { ids }) };
      return { notes: unwrap(await memory.notes(unwrap(readViewer(viewer)), options)).map(wireNote) };
    },
    async stats() {
      const { folders, sources, ...stats } = unwrap(await memory.stats());
      return { ...stats, folders: [...folders], sources: [...sources] };
    },
    verifyMemory: async (_, { signal }) => ({ problems: [...unwrap(await memory.verify(signal))] }),
    async *rebuild(_, { signal }) {
      for await (const progress of memory.rebuild(signal)) yield { progress: unwrap(progress) };
    },
    async export({ folder }) {
      return { files: [...unwrap(await memory.exportTo(unwrap(await findFolder(folder))))] };
    },
    async *evaluate({ folder }, { signal }) {
      for await (const figures of memory.evaluate(unwrap(await findFolder(folder)), signal)) yield unwrap(figures);
    },
  });
}

function readTarget({ folder, source, conversations, remove }: IndexRequest): Result<IndexTarget> {
  const given = [folder !== "", source !== "", conversations].filter(Boolean).length;
  if (given !== 1) {
    return fail("invalid", `one thing is indexed at a time; ${given} were given`, {
      hint: "give a folder, or a source, or ask for conversations",
    });
  }
  if (conversations && remove) {
    return fail("invalid", "conversations cannot be taken out one by one", {
      hint: "with conversations = false under [memory] none is found; claw memory rebuild then drops what was stored",
    });
  }
  if (conversations) return ok({ kind: "conversations" });
  if (source !== "") return ok({ kind: remove ? "dropSource" : "source", name: source });
  const path = readFolder(folder);
  return path.ok ? ok({ kind: remove ? "dropFolder" : "folder", folder: path.value }) : path;
}

async function findFolder(folder: string): Promise<Result<string>> {
  const path = readFolder(folder);
  if (!path.ok) return path;
  const found = await stat(path.value).catch(() => undefined);
  if (found?.isDirectory() === true) return path;
  const what = found === undefined ? "there is no folder" : "this is no folder:";
  return fail("not_found", `${what} ${path.value}`, { hint: "give the path of an existing folder" });
}

function readViewer(viewer: MemoryViewer | undefined): Result<Viewer> {
  const { workspace = "", sessionId = "" } = viewer ?? {};
  if (workspace === "") return ok({ workspace, sessionId });
  const folder = readFolder(workspace);
  return folder.ok ? ok({ workspace: folder.value, sessionId }) : folder;
}

function readQuery({ query, limit, mode, viewer, filter }: SearchRequest): Result<MemoryQuery> {
  const seen = readViewer(viewer);
  if (!seen.ok) return seen;
  const meant = readWord("mode", mode === "" ? "hybrid" : mode, SEARCH_MODES);
  if (!meant.ok) return meant;
  const narrowed = filter === undefined ? ok({}) : readFilter(filter);
  if (!narrowed.ok) return narrowed;
  return ok({
    text: query,
    limit: limit === 0 ? SEARCH_LIMIT : limit,
    viewer: seen.value,
    mode: meant.value,
    filter: narrowed.value,
  });
}

function readFilter(filter: WireFilter): Result<MemoryFilter> {
  const { path, sessionId, label, afterMs, beforeMs } = filter;
  const kinds = readWords("kind", filter.kinds, MEMORY_KINDS);
  if (!kinds.ok) return kinds;
  const authors = readWords("author", filter.authors, AUTHORS);
  if (!authors.ok) return authors;
  const wrong = checkMoment(afterMs) ?? checkMoment(beforeMs);
  if (wrong !== undefined) return wrong;
  return ok({
    ...(kinds.value.length === 0 ? {} : { kinds: kinds.value }),
    ...(authors.value.length === 0 ? {} : { authors: authors.value }),
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(beforeMs === undefined ? {} : { beforeMs }),
    ...(path === "" ? {} : { path }),
    ...(sessionId === "" ? {} : { sessionId }),
    ...(label === "" ? {} : { label }),
  });
}

function checkMoment(ms: number | undefined): Failed | undefined {
  if (ms === undefined || Number.isFinite(ms)) return undefined;
  return fail("invalid", `${ms} is no moment`, { hint: "give milliseconds since 1970-01-01 UTC" });
}

function readDraft(request: RememberRequest): Result<NoteDraft> {
  const viewer = readViewer(request.viewer);
  if (!viewer.ok) return viewer;
  const scope = readScope(request.scope, viewer.value);
  if (!scope.ok) return scope;
  const importance = readWord("importance", request.importance === "" ? "normal" : request.importance, IMPORTANCES);
  if (!importance.ok) return importance;
  const { text, type, labels, expiresAtMs, supersedes } = request;
  return ok({
    ...{ text, author: "owner", viewer: viewer.value, scope: scope.value, importance: importance.value, labels },
    ...(type === "" ? {} : { type }),
    ...(expiresAtMs === 0 ? {} : { expiresAtMs }),
    ...(supersedes === "" ? {} : { supersedes }),
  });
}

function readScope(written: string, { workspace, sessionId }: Viewer): Result<MemoryScope> {
  if (written === "" || written === "person") return ok("person");
  if (written === "project") return workspace === "" ? noScope("folder") : ok<MemoryScope>(`project:${workspace}`);
  if (written === "session") return sessionId === "" ? noScope("session") : ok<MemoryScope>(`session:${sessionId}`);
  const [, kind, of = ""] = /^(project|session):(.+)$/s.exec(written) ?? [];
  if (kind === "session") return ok<MemoryScope>(`session:${of}`);
  if (kind === "project") {
    const folder = readFolder(of);
    return folder.ok ? ok<MemoryScope>(`project:${folder.value}`) : folder;
  }
  return fail("invalid", `there is no scope ${JSON.stringify(written)}`, { hint: "person, project or session" });
}

function noScope(what: string): Failed {
  return fail("invalid", `the request names no ${what} that the note could be of`, { hint: "name one, or use person" });
}

function readWords<T extends string>(
  what: string,
  written: readonly string[],
  known: readonly T[],
): Result<readonly T[]> {
  const read: T[] = [];
  for (const word of written) {
    const one = readWord(what, word, known);
    if (!one.ok) return one;
    read.push(one.value);
  }
  return ok(read);
}

function readWord<T extends string>(what: string, written: string, known: readonly T[]): Result<T> {
  const word = known.find((one) => one === written);
  if (word !== undefined) return ok(word);
  return fail("invalid", `there is no ${what} ${JSON.stringify(written)}`, { hint: `one of ${known.join(", ")}` });
}

function wireHit({ id, snippet, reason, ...hit }: MemoryHit): MessageInitShape<typeof MemoryHitSchema> {
  const { folded, ...why } = reason;
  return {
    ...hit,
    memoryId: id,
    snippet: { text: snippet.text, marks: snippet.marks.map(([start, end]) => ({ start, end })) },
    reason: { ...why, folded: [...folded] },
  };
}

function wireNote({ id, labels, ...note }: Note): MessageInitShape<typeof MemoryNoteSchema> {
  return { ...note, memoryId: id, labels: [...labels] };
}
