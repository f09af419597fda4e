import { MemoryHitSchema, MemoryService, type SearchLegs } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeLine } from "../escape.ts";
import { hitLines } from "../hit-lines.ts";
import { readMoment } from "../moment.ts";
import { readCount } from "../number.ts";
import { printProto } from "../proto-json.ts";
import { EXIT, ok, type Result } from "../trouble.ts";
import { readViewer } from "./memory-viewer.ts";

/** Columns that the lines of a hit go in, behind its first. */
const HIT_INDENT = 2;

const NOTHING_FOUND = "nothing found; other words may find it, and claw memory index DIR adds a folder's files";

/** `claw memory search WORDS` */
export function searchMemory(context: Context, args: Arguments): Promise<number> {
  return search(context, args, args.list("kind"), NOTHING_FOUND);
}

/** `claw memory recall WORDS`: what was remembered and what was said, without files. */
export function recallMemory(context: Context, args: Arguments): Promise<number> {
  return search(context, args, ["note", "conversation"], "nothing was remembered or said about that");
}

async function search(
  context: Context,
  args: Arguments,
  kinds: readonly string[],
  whenNothing: string,
): Promise<number> {
  const { screen } = context;
  const limit = readCount("--limit", args.text("limit") ?? "0");
  if (!limit.ok) return context.report(limit.trouble);
  const moments = readMoments(args, Date.now());
  if (!moments.ok) return context.report(moments.trouble);
  return withDaemon(context, async (daemon) => {
    const viewer = await readViewer(context, args, daemon);
    if (!viewer.ok) return context.report(viewer.trouble);
    const { sessionId } = viewer.value;
    const found = await daemon.call(MemoryService.method.search, {
      query: args.positionals.join(" "),
      limit: limit.value,
      viewer: viewer.value,
      mode: args.text("mode") ?? "",
      filter: {
        ...moments.value,
        kinds: [...kinds],
        path: args.text("path") ?? "",
        label: args.text("label") ?? "",
        sessionId,
      },
    });
    if (!found.ok) return context.report(found.trouble);
    const { hits, legs } = found.value;
    for (const hit of hits) {
      if (args.on("json")) printProto(screen, MemoryHitSchema, hit);
      else screen.layout(screen.wrapData(hitLines(hit, context.folder, screen.paintData, args.on("why")), HIT_INDENT));
    }
    if (legs !== undefined) noteLegs(context, args, legs);
    if (hits.length === 0 && !args.on("json")) screen.note(whenNothing);
    return EXIT.done;
  });
}

/** A leg that could not run is news to whoever asked for it, or asks why. */
function noteLegs({ screen }: Context, args: Arguments, { lexical, vector }: SearchLegs): void {
  const mode = args.text("mode");
  if (lexical !== "ok" && mode !== "vector") screen.note(`words: ${escapeLine(lexical)}`);
  if (vector !== "ok" && (mode === "vector" || (mode !== "lexical" && args.on("why")))) {
    screen.note(`vectors: ${escapeLine(vector)}`);
  }
}

type Moments = { readonly afterMs?: number; readonly beforeMs?: number };

function readMoments(args: Arguments, nowMs: number): Result<Moments> {
  const [after, before] = [args.text("after"), args.text("before")];
  const afterMs = after === undefined ? undefined : readMoment("--after", after, nowMs, "back");
  if (afterMs?.ok === false) return afterMs;
  const beforeMs = before === undefined ? undefined : readMoment("--before", before, nowMs, "back");
  if (beforeMs?.ok === false) return beforeMs;
  return ok({
    ...(afterMs === undefined ? {} : { afterMs: afterMs.value }),
    ...(beforeMs === undefined ? {} : { beforeMs: beforeMs.value }),
  });
}
