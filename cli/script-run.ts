import { basename } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type RunScriptRequestSchema, ScriptService, type ScriptTestNews } from "../proto/gen/clawd/v1/admin_pb.ts";
import type { Context } from "./command.ts";
import type { Connection } from "./connection.ts";
import { escapeLine } from "./escape.ts";
import { openScriptFeed } from "./script-feed.ts";
import { openScriptQuestions } from "./script-questions.ts";
import { fail, ok, type Result } from "./trouble.ts";

export type ScriptOrder = Exclude<MessageInitShape<typeof RunScriptRequestSchema>, { $typeName: string }> & {
  readonly file: string;
};

/**
 * Runs one script: what it prints goes to the screen, what it reads and the signals that it hears come from here. Its exit
 * code, or undefined when the person ended it.
 */
export async function runScript(
  context: Context,
  daemon: Connection,
  order: ScriptOrder,
  onTest: (news: ScriptTestNews) => void,
): Promise<Result<number | undefined>> {
  const { screen } = context;
  const end = new AbortController();
  const feed = openScriptFeed(context, daemon, () => end.abort());
  const questions = openScriptQuestions(context, daemon, escapeLine(basename(order.file)), () => end.abort());
  try {
    for await (const item of daemon.stream(ScriptService.method.runScript, order, end.signal)) {
      if (!item.ok) return item;
      const { news } = item.value;
      switch (news.case) {
        case "stdout":
          screen.data(news.value);
          break;
        case "stderr":
          screen.errorText(news.value);
          break;
        case "stdoutBytes":
          screen.bytes("data", news.value);
          break;
        case "stderrBytes":
          screen.bytes("errors", news.value);
          break;
        case "question":
          questions.asked(news.value);
          break;
        case "inputWanted":
          feed.wanted(news.value);
          break;
        case "signals":
          feed.listening(news.value);
          break;
        case "test":
          onTest(news.value);
          break;
        case "exitCode":
          return ok(news.value);
        case undefined:
          break;
      }
    }
  } finally {
    questions.close();
    feed.close();
  }
  if (end.signal.aborted) return ok(undefined);
  return fail("failed", "the script's stream ended without an exit code", "claw doctor looks for the cause");
}
