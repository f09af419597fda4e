/** console, as Deno has it. Runs inside the isolate. */

import { tableText } from "./console-table.ts";
import { inspect, inspectAll, inspectWith } from "./guest-inspect.ts";

type Print = (to: "stdout" | "stderr", text: string) => void;

/** Labels of counts and timers that are kept. */
const LABELS_MAX = 1000;
const INDENT = "  ";

function numberArgument(value: unknown, read: (text: string) => number): string {
  return typeof value === "symbol" ? "NaN" : `${read(String(value))}`;
}

function stringArgument(value: unknown): string {
  try {
    return String(value);
  } catch {
    return inspect(value);
  }
}

function placeholder(kind: string, value: unknown): string | undefined {
  switch (kind) {
    case "s":
      return stringArgument(value);
    case "d":
    case "i":
      return numberArgument(value, (text) => Number.parseInt(text, 10));
    case "f":
      return numberArgument(value, Number.parseFloat);
    case "j":
      return JSON.stringify(value) ?? "undefined";
    case "o":
    case "O":
      return inspectWith(value);
    // Styles are for browsers.
    case "c":
      return "";
    default:
      return undefined;
  }
}

/** The text of one call: a first string may have placeholders for the values after it. */
function formatLine(values: readonly unknown[]): string {
  const [first] = values;
  if (typeof first !== "string" || values.length < 2) return inspectAll(values).join(" ");
  let next = 1;
  const text = first.replace(/%([sdifjoOc%])/g, (whole, kind: string) => {
    if (kind === "%") return "%";
    if (next >= values.length) return whole;
    const filled = placeholder(kind, values[next]);
    next += 1;
    return filled ?? whole;
  });
  return [text, ...inspectAll(values.slice(next))].join(" ");
}

export type GuestConsole = {
  /** The global `console`. */
  readonly surface: object;
  /** What `console.log` does. */
  log(values: readonly unknown[]): void;
};

export function guestConsole(print: Print, nowMs: () => number): GuestConsole {
  const counts = new Map<string, number>();
  const timers = new Map<string, number>();
  let indent = "";

  function write(to: "stdout" | "stderr", values: readonly unknown[]): void {
    const text = formatLine(values);
    print(to, `${indent === "" ? text : indent + text.replaceAll("\n", `\n${indent}`)}\n`);
  }

  function keep(map: Map<string, number>, label: string, value: number): void {
    if (map.size >= LABELS_MAX && !map.has(label)) map.delete(map.keys().next().value ?? "");
    map.set(label, value);
  }

  function tellTime(label: string, more: readonly unknown[]): boolean {
    const begun = timers.get(label);
    if (begun === undefined) write("stderr", [`Timer '${label}' does not exist`]);
    else write("stdout", [`${label}: ${nowMs() - begun}ms`, ...more]);
    return begun !== undefined;
  }

  const out = (...values: unknown[]) => write("stdout", values);
  const err = (...values: unknown[]) => write("stderr", values);
  const group = (...values: unknown[]) => {
    if (values.length > 0) write("stdout", values);
    indent += INDENT;
  };
  const surface = {
    log: out,
    info: out,
    debug: out,
    warn: err,
    error: err,
    dirxml: out,
    group,
    groupCollapsed: group,
    groupEnd() {
      indent = indent.slice(INDENT.length);
    },
    dir: (value: unknown, options?: unknown) => write("stdout", [inspectWith(value, options)]),
    assert(condition: unknown = false, ...values: unknown[]) {
      if (condition) return;
      const [first, ...rest] = values;
      if (typeof first === "string") write("stderr", [`Assertion failed: ${first}`, ...rest]);
      else write("stderr", values.length === 0 ? ["Assertion failed"] : ["Assertion failed:", ...values]);
    },
    count(label: unknown = "default") {
      const name = String(label);
      const count = (counts.get(name) ?? 0) + 1;
      keep(counts, name, count);
      write("stdout", [`${name}: ${count}`]);
    },
    countReset(label: unknown = "default") {
      const name = String(label);
      if (counts.has(name)) counts.set(name, 0);
      else write("stderr", [`Count for '${name}' does not exist`]);
    },
    table(data?: unknown, columns?: readonly string[]) {
      const text = tableText(data, columns);
      write("stdout", text === undefined ? [data] : [text]);
    },
    time(label: unknown = "default") {
      const name = String(label);
      if (timers.has(name)) write("stderr", [`Timer '${name}' already exists`]);
      else keep(timers, name, nowMs());
    },
    timeLog: (label: unknown = "default", ...more: unknown[]) => void tellTime(String(label), more),
    timeEnd(label: unknown = "default") {
      if (tellTime(String(label), [])) timers.delete(String(label));
    },
    trace(...values: unknown[]) {
      const error = new Error(formatLine(values));
      error.name = "Trace";
      Error.captureStackTrace(error, surface.trace);
      write("stderr", [error.stack]);
    },
    clear() {
      indent = "";
    },
    timeStamp() {},
    profile() {},
    profileEnd() {},
    get [Symbol.toStringTag]() {
      return "console";
    },
  };
  return { surface, log: (values) => write("stdout", values) };
}
