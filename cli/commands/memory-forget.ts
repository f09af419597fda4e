import { type MemoryNote, MemoryService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import type { Connection } from "../connection.ts";
import { isInterrupt, readKey } from "../key.ts";
import { printJson } from "../proto-json.ts";
import { EXIT, fail, ok, type Result } from "../trouble.ts";
import { noteLine } from "./memory-notes.ts";
import { readViewer, type Viewer } from "./memory-viewer.ts";

/** The most notes that one search gives, and so that one command forgets by words. */
const MATCHES_LIMIT = 100;
const PLAIN_WORD = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}_-]*$/u;

/** `claw memory forget ID…`, or `--matching WORDS`, which shows what it found and asks first. */
export async function forgetNotes(context: Context, args: Arguments): Promise<number> {
  const words = args.text("matching");
  const ids = args.positionals;
  if ((words === undefined) === (ids.length === 0)) {
    const message = ids.length === 0 ? "there is nothing to forget" : "ids and --matching do not go together";
    return context.report(fail("usage", message, "give ids of notes, or --matching WORDS").trouble);
  }
  return withDaemon(context, async (daemon) => {
    const viewer = await readViewer(context, args, daemon);
    if (!viewer.ok) return context.report(viewer.trouble);
    if (words === undefined) return forget(context, args, daemon, { ids, viewer: viewer.value });
    const found = await findMatches(daemon, words, viewer.value);
    if (!found.ok) return context.report(found.trouble);
    const agreed = await agree(context, args, found.value);
    if (agreed !== EXIT.done) return agreed;
    return forget(context, args, daemon, { ids: found.value.map(({ memoryId }) => memoryId), viewer: viewer.value });
  });
}

async function findMatches(daemon: Connection, words: string, viewer: Viewer): Promise<Result<readonly MemoryNote[]>> {
  const parts = words.trim().split(/\s+/);
  // Here every word counts; whoever writes phrases and filters says for themselves what must match.
  const query = parts.every((part) => PLAIN_WORD.test(part)) ? parts.map((part) => `+${part}`).join(" ") : words;
  const found = await daemon.call(MemoryService.method.search, {
    ...{ query, viewer, limit: MATCHES_LIMIT, mode: "lexical", filter: { kinds: ["note"] } },
  });
  if (!found.ok) return found;
  const ids = new Set(found.value.hits.flatMap((hit) => [hit.memoryId, ...(hit.reason?.folded ?? [])]));
  if (ids.size === 0) return fail("failed", "no note that is seen from here matches", "claw memory notes lists them");
  const memoryIds = [...ids];
  const listed = await daemon.call(MemoryService.method.listNotes, { viewer, limit: memoryIds.length, memoryIds });
  return listed.ok ? ok(listed.value.notes) : listed;
}

/** `EXIT.done` for a yes. */
async function agree(context: Context, args: Arguments, notes: readonly MemoryNote[]): Promise<number> {
  const { screen } = context;
  for (const note of notes) screen.note(`  ${noteLine(note)}`);
  if (notes.length >= MATCHES_LIMIT) screen.note("  there may be more; the same command again finds them");
  if (args.on("yes")) return EXIT.done;
  if (!context.attended) {
    const hint = "read the list above; the same command with --yes forgets it";
    return context.report(fail("usage", "nobody is at a terminal to agree", hint).trouble);
  }
  const show = (): void =>
    screen.ask(`forget ${notes.length === 1 ? "this note" : `these ${notes.length} notes`}? [y] yes · [n] no `);
  const key = await readKey(context.stdin, { wanted: ["y", "n"], show }, new AbortController().signal);
  screen.unask();
  if (isInterrupt(key)) return EXIT.interrupted;
  if (key === "y") return EXIT.done;
  screen.note("nothing was forgotten");
  return EXIT.failed;
}

async function forget(
  context: Context,
  args: Arguments,
  daemon: Connection,
  { ids, viewer }: { readonly ids: readonly string[]; readonly viewer: Viewer },
): Promise<number> {
  const gone = await daemon.call(MemoryService.method.forget, { memoryIds: [...ids], viewer });
  if (!gone.ok) return context.report(gone.trouble);
  for (const note of gone.value.forgotten) {
    if (args.on("json")) printJson(context.screen, { forgotten: note.memoryId, text: note.text });
    else context.screen.note(`forgot ${noteLine(note)}`);
  }
  return EXIT.done;
}
