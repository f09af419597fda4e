import { extname } from "node:path";
import type { Piece } from "./block-packer.ts";
import { chunkCode } from "./code-chunker.ts";
import { chunkMarkdown, chunkProse } from "./prose-chunker.ts";
import { chunkTable } from "./table-chunker.ts";

export type FileForm = "markdown" | "code" | "table" | "prose" | "pdf";

const EXTENSIONS: Readonly<Record<Exclude<FileForm, "prose">, string>> = {
  markdown: "md mdx markdown",
  code:
    "rs py pyi js mjs cjs ts mts cts tsx jsx json jsonc toml yaml yml html htm css scss sass less sql sh bash zsh fish go java kt kts " +
    "swift c cc cpp cxx h hh hpp cs rb lua vim conf cfg ini env xml proto graphql php pl r scala ex exs erl hs ml zig dart " +
    "vue svelte tf nix gradle cmake mk",
  table: "csv tsv",
  pdf: "pdf",
};

const FORMS: ReadonlyMap<string, FileForm> = new Map(
  Object.entries(EXTENSIONS).flatMap(([form, list]) =>
    list.split(" ").map((extension): [string, FileForm] => [`.${extension}`, form as FileForm]),
  ),
);

/** By its extension; what has no known one is prose, if it is a text at all. */
export function formOf(path: string): FileForm {
  return FORMS.get(extname(path).toLowerCase()) ?? "prose";
}

export function chunkText(text: string, form: Exclude<FileForm, "pdf">): Piece[] {
  switch (form) {
    case "markdown":
      return chunkMarkdown(text);
    case "code":
      return chunkCode(text);
    case "table":
      return chunkTable(text);
    case "prose":
      return chunkProse(text);
  }
}
