import { resolve } from "node:path";
import { type IndexResponse, IndexResponseSchema, MemoryService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import type { Connection } from "../connection.ts";
import { escapeLine } from "../escape.ts";
import { printProto } from "../proto-json.ts";
import { EXIT, fail, ok, type Result } from "../trouble.ts";

type Target = {
  readonly folder?: string;
  readonly source?: string;
  readonly conversations?: boolean;
  readonly remove: boolean;
};
type Progress = AsyncIterable<Result<IndexResponse>>;

/**
 * `claw memory index DIR`, `--source NAME` or `--conversations`; with `--remove` taken out again. Progress on a terminal, one
 * line at the end.
 */
export async function indexMemory(context: Context, args: Arguments): Promise<number> {
  const target = readTarget(context, args);
  if (!target.ok) return context.report(target.trouble);
  const { folder, source } = target.value;
  const what = folder ?? source ?? "the conversations";
  const noun = folder !== undefined ? "file" : source !== undefined ? "document" : "message";
  const job: Job = target.value.remove
    ? { what: `removing ${what}`, noun, tell: ({ removed }) => `removed ${what}: ${counted(removed, noun)} gone` }
    : bringing(`indexing ${what}`, noun);
  return withDaemon(context, (daemon) =>
    follow(context, args, job, (signal) => daemon.stream(MemoryService.method.index, target.value, signal)),
  );
}

/** `claw memory rebuild` */
export function rebuildMemory(context: Context, args: Arguments): Promise<number> {
  return withDaemon(context, (daemon) =>
    follow(context, args, bringing("rebuilding the memory", "file"), (signal) => rebuilding(daemon, signal)),
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
  const remove = args.on("remove");
  if (folder !== undefined) return ok({ folder: resolve(context.folder, folder), remove });
  return ok(source === undefined ? { conversations: true, remove } : { source, remove });
}

type Job = {
  readonly what: string;
  readonly noun: string;
  /** The line at its end. */
  readonly tell: (progress: IndexResponse) => string;
};

function bringing(what: string, noun: string): Job {
  const tell = ({ files, chunks, skipped, removed }: IndexResponse) =>
    `done ${what}: ${counted(files, noun)}, ${counted(chunks, "chunk")}, ${skipped} left out, ${removed} gone`;
  return { what, noun, tell };
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

async function follow(
  context: Context,
  args: Arguments,
  { what, noun, tell }: Job,
  begin: (signal: AbortSignal) => Progress,
): Promise<number> {
  const { screen } = context;
  const end = new AbortController();
  const stopHearing = context.onInterrupt(() => end.abort());
  try {
    for await (const item of begin(end.signal)) {
      if (!item.ok) return context.report(item.trouble);
      const { files, filesTotal, done } = item.value;
      screen.spin(`${escapeLine(what)}: ${files} of ${counted(filesTotal, noun)}`);
      if (!done) continue;
      if (args.on("json")) printProto(screen, IndexResponseSchema, item.value);
      else {
        screen.note(escapeLine(tell(item.value)));
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
