/** `Deno.test`, and the run of what it declared. Part of a library; runs inside the isolate. */

import { type GuestError, TEST_STEPS_MAX, type TestNews, type TestOrder } from "./guest-protocol.ts";

type TestFunction = (context: object) => unknown;
type Definition = {
  readonly name: string;
  readonly fn: TestFunction;
  readonly ignore: boolean;
  readonly only: boolean;
  readonly sanitizeOps: boolean;
  readonly sanitizeResources: boolean;
  readonly sanitizeExit: boolean;
};
type When = "beforeAll" | "beforeEach" | "afterEach" | "afterAll";
type Outcome = "ok" | "failed" | "ignored";

export type TestTools = {
  readonly say: (news: TestNews) => void;
  readonly describe: (error: unknown) => GuestError;
  readonly nowMs: () => number;
  /** Calls and timers under way. */
  readonly underWay: () => number;
  /** Files, watchers and children that are open. */
  readonly open: () => number;
  /** URL of the file. */
  readonly origin: string;
};

export type Tests = {
  /** `Deno.test`. */
  readonly test: object;
  /** What `Deno.exit` does while a test runs; undefined outside of one. */
  readonly exiting: () => ((code: number) => never) | undefined;
  /** Runs what was declared; true when nothing failed. */
  run(order: TestOrder): Promise<boolean>;
};

const TESTS_MAX = 10_000;

/** The many ways to call `Deno.test` and `t.step`. */
function readDefinition(args: readonly unknown[], what: string): Definition {
  let options: Record<string, unknown> = {};
  let fn: unknown;
  for (const arg of args) {
    if (typeof arg === "string") options = { ...options, name: arg };
    else if (typeof arg === "function") fn = arg;
    else if (typeof arg === "object" && arg !== null) options = { ...options, ...arg };
  }
  fn ??= options.fn;
  if (typeof fn !== "function") throw new TypeError(`${what} needs a function`);
  const name = options.name ?? fn.name;
  if (typeof name !== "string" || name === "") throw new TypeError("The test name can't be empty");
  return {
    ...{ name, fn: fn as TestFunction },
    ignore: options.ignore === true,
    only: options.only === true,
    sanitizeOps: options.sanitizeOps === true,
    sanitizeResources: options.sanitizeResources === true,
    sanitizeExit: options.sanitizeExit !== false,
  };
}

function matcher(filter: string): (name: string) => boolean {
  const [, pattern] = /^\/(.*)\/$/s.exec(filter) ?? [];
  if (pattern === undefined) return (name) => name.includes(filter);
  const expression = new RegExp(pattern);
  return (name) => expression.test(name);
}

export function guestTests({ say, describe, nowMs, underWay, open, origin }: TestTools): Tests {
  const declared: Definition[] = [];
  const around: Record<When, TestFunction[]> = { beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] };
  let running: Definition | undefined;
  let begun = false;

  function declare(args: readonly unknown[], more: object = {}): void {
    if (begun) throw new TypeError("Nested Deno.test() calls are not supported, use t.step() for nested tests");
    if (declared.length >= TESTS_MAX) throw new RangeError(`more than ${TESTS_MAX} tests in one file`);
    declared[declared.length] = { ...readDefinition(args, "Deno.test"), ...more };
  }

  const whenever = (when: When) => (fn: unknown) => {
    if (typeof fn !== "function") throw new TypeError(`Deno.test.${when} needs a function`);
    around[when].push(fn as TestFunction);
  };
  const test = Object.assign((...args: unknown[]) => declare(args), {
    ignore: (...args: unknown[]) => declare(args, { ignore: true }),
    only: (...args: unknown[]) => declare(args, { only: true }),
    beforeAll: whenever("beforeAll"),
    beforeEach: whenever("beforeEach"),
    afterEach: whenever("afterEach"),
    afterAll: whenever("afterAll"),
  });
  Object.defineProperty(test, "name", { value: "test" });

  type Left = { readonly underWay: number; readonly open: number };
  const leftNow = (): Left => ({ underWay: underWay(), open: open() });

  async function runAll(functions: readonly TestFunction[]): Promise<void> {
    for (const each of functions) await each({});
  }

  type Step = {
    readonly path: readonly string[];
    readonly parent: object | undefined;
    failedSteps: number;
    open: number;
  };

  function ended(path: readonly string[], outcome: Outcome, fromMs: number, error: GuestError | null): boolean {
    say({ at: "ended", path, outcome, ms: Math.max(0, nowMs() - fromMs), error });
    return outcome !== "failed";
  }

  function contextOf(step: Step): object {
    const context = {
      name: step.path.at(-1) ?? "",
      origin,
      parent: step.parent,
      async step(...args: unknown[]): Promise<boolean> {
        const definition = readDefinition(args, "t.step");
        step.open += 1;
        try {
          const passed = await runOne(definition, [...step.path, definition.name], context);
          if (!passed) step.failedSteps += 1;
          return definition.ignore ? false : passed;
        } finally {
          step.open -= 1;
        }
      },
    };
    return context;
  }

  function plainError(message: string): GuestError {
    return { name: "Error", message, stack: "" };
  }

  /** What a test that did not throw did wrong nevertheless. */
  function complaintOf(definition: Definition, step: Step, before: Left): GuestError | null {
    if (step.failedSteps > 0)
      return plainError(`${step.failedSteps} test step${step.failedSteps === 1 ? "" : "s"} failed.`);
    if (step.open > 0) return plainError("A step was not awaited: it ran when its test had ended");
    const left = leftNow();
    const ops = left.underWay - before.underWay;
    if (definition.sanitizeOps && ops > 0)
      return plainError(`Leaks detected: of calls and timers that began in it ${ops} are still under way`);
    const opened = left.open - before.open;
    if (definition.sanitizeResources && opened > 0)
      return plainError(`Leaks detected: of what was opened in it ${opened} were not closed`);
    return null;
  }

  async function runOne(definition: Definition, path: readonly string[], parent: object | undefined): Promise<boolean> {
    if (path.length > TEST_STEPS_MAX) throw new RangeError(`steps more than ${TEST_STEPS_MAX} deep`);
    const fromMs = nowMs();
    if (definition.ignore) return ended(path, "ignored", fromMs, null);
    say({ at: "begun", path });
    const step: Step = { path, parent, failedSteps: 0, open: 0 };
    const before = leftNow();
    try {
      if (parent === undefined) await runAll(around.beforeEach);
      await definition.fn(contextOf(step));
      if (parent === undefined) await runAll(around.afterEach);
    } catch (error) {
      return ended(path, "failed", fromMs, describe(error));
    }
    const complaint = complaintOf(definition, step, before);
    return ended(path, complaint === null ? "ok" : "failed", fromMs, complaint);
  }

  async function runChosen(chosen: readonly Definition[], failFast: boolean): Promise<boolean> {
    let passed = true;
    await runAll(around.beforeAll);
    for (const definition of chosen) {
      running = definition;
      if (!(await runOne(definition, [definition.name], undefined))) passed = false;
      running = undefined;
      if (!passed && failFast) break;
    }
    await runAll(around.afterAll);
    return passed;
  }

  return {
    test,
    exiting: () =>
      running?.sanitizeExit
        ? (code) => {
            throw new Error(`Test case attempted to exit with exit code: ${code}`);
          }
        : undefined,
    async run({ filter, failFast }) {
      begun = true;
      const only = declared.filter((each) => each.only);
      const matches = matcher(filter);
      const chosen = (only.length > 0 ? only : declared).filter(({ name }) => matches(name));
      const filteredOut = declared.length - chosen.length;
      say({ at: "plan", planned: chosen.length, filteredOut, only: only.length > 0 });
      const passed = await runChosen(chosen, failFast);
      // A suite of which only a part runs has not passed.
      return passed && only.length === 0;
    },
  };
}
