import { relative, resolve } from "node:path";
import type { ScriptTestNews } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import type { Connection } from "../connection.ts";
import { escapeLine } from "../escape.ts";
import { readScriptWish, type ScriptWish } from "../script-request.ts";
import { runScript } from "../script-run.ts";
import { closingLines, countBrokenFile, countTest, noTests, type TestTotals, testLine } from "../test-report.ts";
import { EXIT, type Trouble } from "../trouble.ts";

type Run = {
  readonly wish: ScriptWish;
  readonly tests: { readonly filter: string; readonly failFast: boolean };
  readonly json: boolean;
  readonly totals: TestTotals;
};

/** `claw test FILE…`: runs the tests that each file declares, each file alone in a sandbox. */
export async function test(context: Context, args: Arguments): Promise<number> {
  const wish = readScriptWish(context, args);
  if (!wish.ok) return context.report(wish.trouble);
  const tests = { filter: args.text("filter") ?? "", failFast: args.on("fail-fast") };
  const run: Run = { wish: wish.value, tests, json: args.on("json"), totals: noTests() };
  return withDaemon(context, async (daemon) => {
    let passed = true;
    for (const name of args.positionals) {
      const code = await testFile(context, daemon, run, name);
      if (typeof code !== "number") return context.report(code);
      if (code === EXIT.interrupted) return code;
      if (code === EXIT.usage) return code;
      passed &&= code === EXIT.done;
      if (!passed && tests.failFast) break;
    }
    if (run.json) context.screen.data(`${JSON.stringify(jsonTotals(run.totals, passed))}\n`);
    else context.screen.layout(`${closingLines(run.totals, passed, context.screen.paintData).join("\n")}\n`);
    return passed ? EXIT.done : EXIT.failed;
  });
}

async function testFile(
  context: Context,
  daemon: Connection,
  { wish, tests, json, totals }: Run,
  name: string,
): Promise<number | Trouble> {
  const { screen } = context;
  const file = resolve(context.folder, name);
  const shown = escapeLine(`./${relative(context.folder, file)}`);
  let failedTests = 0;
  let isPlanned = false;
  const onTest = (news: ScriptTestNews): void => {
    countTest(totals, news, shown);
    isPlanned ||= news.kind === "plan";
    if (news.kind === "ended" && news.outcome === "failed") failedTests += 1;
    const line = testLine(news, shown, screen.paintData);
    if (json) screen.data(`${JSON.stringify({ file, ...jsonNews(news) })}\n`);
    else if (line !== undefined) screen.layout(`${line}\n`);
  };
  const ended = await runScript(context, daemon, { ...wish, file, args: [], tests }, onTest);
  if (!ended.ok) return ended.trouble;
  const code = ended.value ?? EXIT.interrupted;
  // It did not get as far as its tests, or left them by its own exit.
  if (code !== EXIT.done && code !== EXIT.interrupted && failedTests === 0 && !(isPlanned && totals.only))
    countBrokenFile(totals, shown, code);
  return code === EXIT.done || code === EXIT.interrupted || code === EXIT.usage ? code : EXIT.failed;
}

function jsonNews(news: ScriptTestNews): object {
  const { kind, path, outcome, ms, error, planned, filteredOut, only } = news;
  if (kind === "plan") return { kind, planned, filteredOut, only };
  return kind === "begun" ? { kind, path } : { kind, path, outcome, ms, error };
}

function jsonTotals({ tests, steps, filteredOut, only }: TestTotals, passed: boolean): object {
  return { kind: "total", passed, tests, steps, filteredOut, only };
}
