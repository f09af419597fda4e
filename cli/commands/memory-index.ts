import { resolve } from "node:path";
import { type IndexResponse, IndexResponseSchema, MemoryService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import type { Connection } from "../connection.ts";
import { escapeLine } from "../escape.ts";
import { printProto } from "../proto-json.ts";
import { EXIT, fail, ok, type Result } from "../trouble.ts";

type Target = { readonly folder?: string; readonly source?: string; readonly conversations?: boolean };
type Progress = AsyncIterable<Result<IndexResponse>>;

/** `claw memory index DIR`, `--source NAME` or `--conversations`: progress on a terminal, one line at the end. */
export async function indexMemory(context: Context, args: Arguments): Promise<number> {
  const target = readTarget(context, args);
  if (!target.ok) return context.report(target.trouble);
  const { folder, source } = target.value;
  const what = folder ?? source ?? "the conversations";
  const noun = folder !== undefined ? "files" : source !== undefined ? "documents" : "conversations";
  return withDaemon(context, (daemon) =>
    follow(context, args, { what: `indexing ${what}`, noun }, (signal) =>
      daemon.stream(MemoryService.method.index, target.value, signal),
    ),
  );
}

/** `claw memory rebuild` */
export function rebuildMemory(context: Context, args: Arguments): Promise<number> {
  return withDaemon(context, (daemon) =>
    follow(context, args, { what: "rebuilding the memory", noun: "files" }, (signal) => rebuilding(daemon, signal)),
  );
}

async function* rebuilding(daemon: Connection, signal: AbortSignal): Progress {
  for await (const item of daemon.stream(MemoryService.method.rebuild, {}, signal)) {
    if (!item.ok) yield item;
    else if (item.value.progress !== undefined) yield ok(item.value.progress);
  }
}

function readTarget(context: Context, args: Arguments): Result<Target> {
  const [folder] = args.positionals;
  const source = args.text("source");
  const given = [folder !== undefined, source !== undefined, args.on("conversations")].filter(Boolean).length;
  if (given !== 1) {
    const message = given === 0 ? "there is nothing to index" : "one thing is indexed at a time";
    return fail("usage", message, "name a folder, or give --source NAME, or give --conversations");
  }
  if (folder !== undefined) return ok({ folder: resolve(context.folder, folder) });
  return ok(source === undefined ? { conversations: true } : { source });
}

type Job = { readonly what: string; readonly noun: string };

async function follow(
  context: Context,
  args: Arguments,
  { what, noun }: Job,
  begin: (signal: AbortSignal) => Progress,
): Promise<number> {
  const { screen } = context;
  const end = new AbortController();
  const stopHearing = context.onInterrupt(() => end.abort());
  try {
    for await (const item of begin(end.signal)) {
      if (!item.ok) return context.report(item.trouble);
      const { files, filesTotal, chunks, skipped, removed, done } = item.value;
      screen.spin(`${escapeLine(what)}: ${files} of ${filesTotal} ${noun}`);
      if (!done) continue;
      if (args.on("json")) printProto(screen, IndexResponseSchema, item.value);
      else {
        const facts = `${files} ${noun}, ${chunks} chunks, ${skipped} left out, ${removed} gone`;
        screen.note(`done ${escapeLine(what)}: ${facts}`);
      }
      return EXIT.done;
    }
  } finally {
    stopHearing();
    screen.rest();
  }
  if (end.signal.aborted) return EXIT.interrupted;
  return context.report(fail("failed", `${what} ended before it was done`, "claw doctor looks for the cause").trouble);
}
