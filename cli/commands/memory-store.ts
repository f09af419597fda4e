import { resolve } from "node:path";
import { EvaluateResponseSchema, MemoryService, StatsResponseSchema } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeControls, escapeLine } from "../escape.ts";
import { printJson, printProto } from "../proto-json.ts";
import { alignTable } from "../table.ts";
import { EXIT } from "../trouble.ts";

/** Writing or checking a large store takes its time. */
const STORE_LIMIT_MS = 30 * 60_000;

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
    const { files, chunks, notes, messages, storeBytes, folders, sources } = stats.value;
    const { skipped, removed, errors, embedder, embedded, toEmbed, withoutVector, storeLimitBytes } = stats.value;
    const without = withoutVector === 0 ? "" : `, ${withoutVector} get none`;
    const vectors = embedder === "" ? "none" : `${embedded} of ${escapeLine(embedder)}, ${toEmbed} to come${without}`;
    const limit = storeLimitBytes === 0 ? "" : ` of ${Math.floor(storeLimitBytes / 1024)} that it may take`;
    const rows = [
      ["notes", String(notes)],
      ["files", `${files}; at the last runs ${skipped} left out, ${removed} gone, ${errors} unreadable`],
      ["messages", String(messages)],
      ["chunks", `${chunks}, ${Math.ceil(storeBytes / 1024)} KiB on disk${limit}`],
      ["vectors", vectors],
    ];
    for (const [name = "", what = ""] of rows) screen.layout(`${name.padEnd(9)} ${what}\n`);
    for (const folder of folders) screen.layout(`folder    ${escapeControls(folder)}\n`);
    for (const source of sources) screen.layout(`source    ${escapeControls(source)}\n`);
    return EXIT.done;
  });
}

/** `claw memory verify`: fails when anything is wrong. */
export function verifyMemory(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    screen.spin("checking");
    const checked = await daemon.call(MemoryService.method.verifyMemory, {}, { limitMs: STORE_LIMIT_MS });
    screen.rest();
    if (!checked.ok) return context.report(checked.trouble);
    const { problems } = checked.value;
    if (args.on("json")) printJson(screen, { problems });
    else for (const problem of problems) screen.layout(`${escapeLine(problem)}\n`);
    if (problems.length === 0 && !args.on("json")) screen.note("store, index, vectors and journal agree");
    if (problems.length > 0) screen.note("  → claw memory rebuild makes the store anew");
    return problems.length === 0 ? EXIT.done : EXIT.failed;
  });
}

/** `claw memory export DIR`: prints the paths of the files that it wrote. */
export function exportMemory(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  const folder = resolve(context.folder, args.positionals[0] ?? "");
  return withDaemon(context, async (daemon) => {
    screen.spin("writing");
    const written = await daemon.call(MemoryService.method.export, { folder }, { limitMs: STORE_LIMIT_MS });
    screen.rest();
    if (!written.ok) return context.report(written.trouble);
    for (const file of written.value.files) {
      if (args.on("json")) printJson(screen, { file });
      else screen.data(`${file}\n`);
    }
    return EXIT.done;
  });
}

/** `claw memory eval DIR`: one line for each mode. */
export function evaluateMemory(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  const folder = resolve(context.folder, args.positionals[0] ?? "");
  return withDaemon(context, async (daemon) => {
    const end = new AbortController();
    const stopHearing = context.onInterrupt(() => end.abort());
    const rows: string[][] = [];
    screen.spin("measuring");
    try {
      for await (const item of daemon.stream(MemoryService.method.evaluate, { folder }, end.signal)) {
        if (!item.ok) return context.report(item.trouble);
        if (args.on("json")) printProto(screen, EvaluateResponseSchema, item.value);
        const { mode, queries, ndcgAt10, recallAt5, recallAt10, mrr } = item.value;
        rows.push([mode, String(queries), ...[ndcgAt10, recallAt5, recallAt10, mrr].map((part) => part.toFixed(4))]);
      }
    } finally {
      stopHearing();
      screen.rest();
    }
    if (end.signal.aborted) return EXIT.interrupted;
    if (args.on("json")) return EXIT.done;
    const columns = ["MODE", "QUERIES", "NDCG@10", "RECALL@5", "RECALL@10", "MRR"];
    for (const line of alignTable(columns, rows, screen.columns)) screen.layout(`${line}\n`);
    return EXIT.done;
  });
}
