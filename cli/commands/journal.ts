import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { JournalService, VerifiedJournalSchema } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { printJson, printProto } from "../proto-json.ts";
import { printTable } from "../table.ts";
import { EXIT } from "../trouble.ts";

/** `claw sql "select …"`: an aligned table on a terminal, tab-separated values when piped, objects with --json. */
export function querySql(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    screen.spin("asking the journals");
    const answer = await daemon.call(JournalService.method.query, { sql: args.positionals.join(" ") });
    screen.rest();
    if (!answer.ok) return context.report(answer.trouble);
    const { columns, truncated } = answer.value;
    const rows = answer.value.rows.map((row) => toJson(ListValueSchema, row) as JsonValue[]);
    if (args.on("json")) {
      for (const row of rows)
        printJson(screen, Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null])));
    } else {
      printTable(
        screen,
        columns,
        rows.map((row) => row.map(cellText)),
        `no rows; the columns are: ${columns.join(", ")}`,
      );
    }
    if (truncated) screen.note(`! only the first ${rows.length} rows are shown; add a limit or a condition`);
    return EXIT.done;
  });
}

function cellText(value: JsonValue): string {
  if (value === null) return "";
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(10)));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** `claw audit verify [ID]`: exit 1 when any journal is not what was written. */
export function verifyJournals(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    screen.spin("checking hashes");
    const answer = await daemon.call(JournalService.method.verify, { sessionId: args.positionals[0] ?? "" });
    screen.rest();
    if (!answer.ok) return context.report(answer.trouble);
    const { journals } = answer.value;
    const broken = journals.filter((one) => one.failure !== undefined);
    if (args.on("json")) {
      for (const one of journals) printProto(screen, VerifiedJournalSchema, one);
    } else {
      const rows = journals.map((one) => [
        one.sessionId,
        String(one.events),
        one.failure?.message ?? "whole",
        one.headHash,
      ]);
      printTable(screen, ["JOURNAL", "EVENTS", "STATE", "HEAD HASH"], rows, "there are no journals yet");
    }
    if (broken.length === 0 && journals.length > 0)
      screen.note(journals.length === 1 ? "the journal is whole" : `all ${journals.length} journals are whole`);
    for (const one of broken)
      screen.note(`${screen.paintNote("red", "✗")} ${one.sessionId}: ${one.failure?.message ?? ""}`);
    return broken.length === 0 ? EXIT.done : EXIT.failed;
  });
}
