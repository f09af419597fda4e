import type { ScriptTestNews } from "../proto/gen/clawd/v1/admin_pb.ts";
import { escapeControls, escapeLine } from "./escape.ts";
import type { Paint } from "./screen.ts";

/** How tests went, counted. Steps are counted apart. */
export type TestCount = { passed: number; failed: number; ignored: number };
export type TestTotals = {
  readonly tests: TestCount;
  readonly steps: TestCount;
  filteredOut: number;
  readonly failures: { readonly title: string; readonly error: string }[];
  /** Somewhere only some of the tests were run. */
  only: boolean;
};

export function noTests(): TestTotals {
  const none = (): TestCount => ({ passed: 0, failed: 0, ignored: 0 });
  return { tests: none(), steps: none(), filteredOut: 0, failures: [], only: false };
}

/** Adds one piece of news to the totals. */
export function countTest(totals: TestTotals, news: ScriptTestNews, file: string): void {
  if (news.kind === "plan") {
    totals.filteredOut += news.filteredOut;
    totals.only ||= news.only;
  }
  if (news.kind !== "ended") return;
  const count = news.path.length === 1 ? totals.tests : totals.steps;
  if (news.outcome === "ok") count.passed += 1;
  else if (news.outcome === "ignored") count.ignored += 1;
  else {
    count.failed += 1;
    totals.failures.push({ title: `${titleOf(news.path)} => ${file}`, error: news.error });
  }
}

/** A file that failed outside of its tests. */
export function countBrokenFile(totals: TestTotals, file: string, code: number): void {
  totals.tests.failed += 1;
  totals.failures.push({ title: file, error: `it ended with exit code ${code} outside of its tests` });
}

function titleOf(path: readonly string[]): string {
  return path.map(escapeLine).join(" ... ");
}

/** One line about it, in the words of `deno test`; undefined for what is shown by what comes next. */
export function testLine(news: ScriptTestNews, file: string, paint: Paint): string | undefined {
  const indent = "  ".repeat(Math.max(0, news.path.length - 1));
  const name = escapeLine(news.path.at(-1) ?? "");
  if (news.kind === "plan") return paint("dim", `running ${several(news.planned, "test")} from ${file}`);
  if (news.kind !== "ended") return undefined;
  const time = paint("dim", `(${Math.round(news.ms)}ms)`);
  if (news.outcome === "ok") return `${indent}${name} ... ${paint("green", "ok")} ${time}`;
  if (news.outcome === "ignored") return `${indent}${name} ... ${paint("yellow", "ignored")} ${time}`;
  return `${indent}${name} ... ${paint("red", "FAILED")} ${time}`;
}

function several(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function summary({ tests, steps, filteredOut }: TestTotals): string {
  const withSteps = (word: string, count: number, stepCount: number) =>
    `${count} ${word}${stepCount === 0 ? "" : ` (${several(stepCount, "step")})`}`;
  const parts = [withSteps("passed", tests.passed, steps.passed), withSteps("failed", tests.failed, steps.failed)];
  if (tests.ignored + steps.ignored > 0) parts.push(withSteps("ignored", tests.ignored, steps.ignored));
  if (filteredOut > 0) parts.push(`${filteredOut} filtered out`);
  return parts.join(" | ");
}

/** What stands at the end: every error, and the sum. */
export function closingLines(totals: TestTotals, passed: boolean, paint: Paint): string[] {
  const errors = totals.failures.flatMap(({ title, error }) => [title, `error: ${escapeControls(error)}`, ""]);
  const verdict = passed ? paint("green", "ok") : paint("red", "FAILED");
  return [
    ...(errors.length > 0 ? ["", paint("red", " ERRORS "), "", ...errors] : [""]),
    `${verdict} | ${summary(totals)}`,
    ...(totals.only ? ['error: Test failed because the "only" option was used'] : []),
  ];
}
