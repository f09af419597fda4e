import { types } from "node:util";
import { type Context, createContext, Script } from "node:vm";
import type { JsonObject } from "@bufbuild/protobuf";
import { Validator } from "@cfworker/json-schema";
import type { Failure } from "../../domain/failure.ts";
import type { Tool } from "../../domain/tool.ts";

/** A stranger's schema may hold a regular expression that takes years. This is how long it may hold up the daemon. */
const CHECK_LIMIT_MS = 100;
/** A busy machine may have taken the time of the first attempt. */
const ATTEMPTS = 2;

const CALL = new Script("work()");
/** How the validator names a property that is not there. */
const MISSING = /required property "([^"]*)"/;
/** What it says of a property that the schema has no room for, as by `"additionalProperties": false`. */
const NO_ROOM = "False boolean schema.";

/** Says what is wrong with the arguments of a call by the schema of its tool; undefined when they fit. */
export function schemaCheck(): (tool: Tool, args: JsonObject) => Failure | undefined {
  // Compiled once a schema; a plugin that goes away takes its schemas with it.
  const validators = new WeakMap<JsonObject, Validator>();
  let context: Context | undefined;

  function validate({ input }: Tool, args: JsonObject) {
    let validator = validators.get(input);
    if (validator === undefined) {
      validator = new Validator(input, "2020-12", false);
      validators.set(input, validator);
    }
    return validator.validate(args);
  }

  /** Only V8 itself can stop a regular expression, and this is its door to that. Throws what the schema makes it throw. */
  function validateWithin(tool: Tool, args: JsonObject): ReturnType<typeof validate> {
    context ??= createContext({});
    context.work = () => validate(tool, args);
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return CALL.runInContext(context, { timeout: CHECK_LIMIT_MS });
        } catch (cause) {
          const isLate = types.isNativeError(cause) && "code" in cause && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
          if (!isLate || attempt === ATTEMPTS) throw cause;
        }
      }
    } finally {
      context.work = undefined; // it holds the arguments
    }
  }

  return (tool, args) => {
    const isStrange = tool.category === "plugin" || tool.category === "mcp";
    let checked: ReturnType<typeof validate>;
    try {
      checked = isStrange ? validateWithin(tool, args) : validate(tool, args);
    } catch (cause) {
      if (!isStrange) throw cause;
      const said = types.isNativeError(cause) ? cause.message : String(cause);
      const message = `the arguments of ${tool.name} cannot be checked, because its schema does not work: ${said}`;
      return { code: "invalid", message, hint: "its author has to mend the schema; go on without this tool", cause };
    }
    if (checked.valid) return undefined;
    // The last error is the deepest: it names the field, the ones before it only say that a parent did not match.
    const deepest = checked.errors.at(-1);
    const where =
      deepest === undefined || deepest.instanceLocation === "#" ? "" : ` at ${deepest.instanceLocation.slice(2)}`;
    const missing = deepest?.keyword === "required" ? MISSING.exec(deepest.error)?.[1] : undefined;
    const unwanted = deepest?.error === NO_ROOM ? "there is no such field" : deepest?.error;
    const what = missing === undefined ? (unwanted ?? "invalid") : `Missing required field '${missing}'`;
    const message = `the arguments of ${tool.name} do not fit its schema${where}: ${what}`;
    return { code: "invalid", message, hint: "call it again with arguments that fit" };
  };
}
