import type { Note } from "../domain/memory.ts";
import type { ExportColumn } from "./store/store.ts";

/** Notes as a table: lists as JSON, times in milliseconds since 1970. */
export function noteColumns(notes: readonly Note[]): readonly ExportColumn[] {
  const text = (name: string, of: (note: Note) => string): ExportColumn => ({
    name,
    type: "text",
    values: notes.map(of),
  });
  const number = (name: string, of: (note: Note) => number): ExportColumn => {
    return { name, type: "number", values: notes.map(of) };
  };
  return [
    text("id", ({ id }) => id),
    text("text", (note) => note.text),
    text("author", ({ author }) => author),
    text("scope", ({ scope }) => scope),
    text("type", ({ type }) => type),
    text("importance", ({ importance }) => importance),
    text("labels", ({ labels }) => JSON.stringify(labels)),
    text("session_id", ({ sessionId }) => sessionId),
    number("at_ms", ({ atMs }) => atMs),
    number("expires_at_ms", ({ expiresAtMs }) => expiresAtMs),
    text("supersedes", ({ supersedes }) => supersedes),
    text("superseded_by", ({ supersededBy }) => supersededBy),
  ];
}
