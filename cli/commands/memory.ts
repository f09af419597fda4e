import { relative, resolve } from "node:path";
import {
  IndexResponseSchema,
  type MemoryHit,
  MemoryHitSchema,
  MemoryService,
  StatsResponseSchema,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeControls, escapeLine, shorten } from "../escape.ts";
import { readCount } from "../number.ts";
import { printJson, printProto } from "../proto-json.ts";
import { EXIT, fail } from "../trouble.ts";

const EXCERPT_LIMIT = 240;

/** `claw memory index DIR`: progress on a terminal, one line at the end. */
export function indexFolder(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  const folder = resolve(context.folder, args.positionals[0] ?? "");
  return withDaemon(context, async (daemon) => {
    const end = new AbortController();
    const stopHearing = context.onInterrupt(() => end.abort());
    try {
      for await (const item of daemon.stream(MemoryService.method.index, { folder }, end.signal)) {
        if (!item.ok) return context.report(item.trouble);
        const { files, filesTotal, chunks, skipped, done } = item.value;
        screen.spin(`indexing: ${files} of ${filesTotal} files`);
        if (!done) continue;
        if (args.on("json")) printProto(screen, IndexResponseSchema, item.value);
        else screen.note(`indexed ${files} files (${chunks} chunks, ${skipped} left out) of ${escapeLine(folder)}`);
        return EXIT.done;
      }
    } finally {
      stopHearing();
      screen.rest();
    }
    if (end.signal.aborted) return EXIT.interrupted;
    return context.report(
      fail("failed", `indexing ${folder} ended before it was done`, "claw doctor looks for the cause").trouble,
    );
  });
}

/** `claw memory search WORDS` */
export async function searchMemory(context: Context, args: Arguments): Promise<number> {
  const limit = readCount("--limit", args.text("limit") ?? "0");
  if (!limit.ok) return context.report(limit.trouble);
  return withDaemon(context, async (daemon) => {
    const request = { query: args.positionals.join(" "), limit: limit.value };
    const found = await daemon.call(MemoryService.method.search, request);
    if (!found.ok) return context.report(found.trouble);
    for (const hit of found.value.hits) {
      if (args.on("json")) printProto(context.screen, MemoryHitSchema, hit);
      else printHit(context, hit);
    }
    if (found.value.hits.length === 0 && !args.on("json")) {
      context.screen.note("nothing found; claw memory index DIR adds a folder's files");
    }
    return EXIT.done;
  });
}

function printHit(context: Context, hit: MemoryHit): void {
  const { screen } = context;
  const inside = relative(context.folder, hit.path);
  const path = inside.startsWith("..") ? hit.path : inside;
  const place = hit.path === "" ? `note ${hit.memoryId} (${hit.author})` : `${path}:${hit.line}`;
  const text = escapeControls(shorten(hit.text.trim().replace(/\s+/g, " "), EXCERPT_LIMIT));
  screen.layout(
    `${screen.paintData("cyan", escapeLine(place))} ${screen.paintData("dim", hit.score.toFixed(2))}\n  ${text}\n`,
  );
}

/** `claw memory remember TEXT`: prints the note's id. */
export function rememberNote(context: Context, args: Arguments): Promise<number> {
  return withDaemon(context, async (daemon) => {
    const noted = await daemon.call(MemoryService.method.remember, { text: args.positionals.join(" ") });
    if (!noted.ok) return context.report(noted.trouble);
    const { memoryId } = noted.value;
    if (args.on("json")) printJson(context.screen, { memoryId });
    else context.screen.data(`${memoryId}\n`);
    return EXIT.done;
  });
}

/** `claw memory forget ID` */
export function forgetNote(context: Context, args: Arguments): Promise<number> {
  const memoryId = args.positionals[0] ?? "";
  return withDaemon(context, async (daemon) => {
    const gone = await daemon.call(MemoryService.method.forget, { memoryId });
    if (!gone.ok) return context.report(gone.trouble);
    if (args.on("json")) printJson(context.screen, { forgotten: memoryId });
    else context.screen.note(`forgot ${escapeLine(memoryId)}`);
    return EXIT.done;
  });
}

/** `claw memory stats` */
export function showMemoryStats(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    const stats = await daemon.call(MemoryService.method.stats, {});
    if (!stats.ok) return context.report(stats.trouble);
    if (args.on("json")) {
      printProto(screen, StatsResponseSchema, stats.value);
      return EXIT.done;
    }
    const { files, chunks, notes, storeBytes, folders } = stats.value;
    screen.layout(`${files} files in ${chunks} chunks, ${notes} notes, ${Math.ceil(storeBytes / 1024)} KiB on disk\n`);
    for (const folder of folders) screen.layout(`  ${escapeControls(folder)}\n`);
    return EXIT.done;
  });
}
