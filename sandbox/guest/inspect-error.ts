/** Errors as `console.log` writes them. Runs inside the isolate. */

import { prefixOf } from "./inspect-text.ts";

/** What an error is shown as beside its stack: the keys of it that say more. */
export function errorKeys(error: Error, keys: readonly (string | symbol)[], stack: string): (string | symbol)[] {
  const told = (key: string) => {
    const value: unknown = (error as unknown as Record<string, unknown>)[key];
    return stack.includes(String(value));
  };
  const left = keys.filter((key) => !((key === "name" || key === "message" || key === "stack") && told(key)));
  if (Object.hasOwn(error, "cause") && !left.includes("cause")) left.push("cause");
  const { errors } = error as { errors?: unknown };
  if (Array.isArray(errors) && Object.hasOwn(error, "errors") && !left.includes("errors")) left.push("errors");
  return left;
}

/** Its stack, or its name and message where that was taken away. */
export function stackText(error: Error): string {
  const { stack } = error as { stack?: unknown };
  if (typeof stack === "string" && stack !== "") return stack;
  return Error.prototype.toString.call(error);
}

/** Says the class where the error's name does not. */
function withClass(stack: string, name: string, className: string | null, tag: string): string {
  if (className === "DOMException") return stack;
  const regular = name.endsWith("Error") && stack.startsWith(name) && /^(?::|\n|$)/.test(stack.slice(name.length));
  if (!regular && className !== null) return stack;
  const start =
    className === null
      ? (/^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n {4}at)/.exec(stack) ?? /^([a-z_A-Z0-9-]*Error)$/.exec(stack))
      : null;
  const length = className === null ? (start?.[1] ?? "").length : name.length;
  const prefix = prefixOf(className, tag, start?.[1] ?? "Error").slice(0, -1);
  if (name === prefix) return stack;
  if (!prefix.includes(name)) return `${prefix} [${name}]${stack.slice(length)}`;
  return length === 0 ? `${prefix}: ${stack}` : prefix + stack.slice(length);
}

/** In brackets where there is no stack. */
export function errorText(error: Error, className: string | null, tag: string, indentation: number): string {
  const name: unknown = error.name;
  const stack = withClass(stackText(error), name === undefined ? "Error" : String(name), className, tag);
  const message = typeof error.message === "string" ? error.message : "";
  const from = message === "" ? -1 : stack.indexOf(message);
  const frames = stack.indexOf("\n    at", from < 0 ? 0 : from + message.length);
  const text = frames < 0 ? `[${stack}]` : stack;
  return text.replaceAll("\n", `\n${" ".repeat(indentation)}`);
}
