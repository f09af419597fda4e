/** The second argument of a hook: what it may use beside `Deno`. Runs inside the isolate. */

import type { Call } from "./broker-call.ts";
import type { Calls, Json } from "./guest-protocol.ts";

/** Hits of a memory search when the hook does not say how many. */
const HITS = 10;

const { freeze } = Object;

function jsonOf(value: unknown, what: string): Json {
  // JSON decides what it can carry; the text goes over the bridge anyway.
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`${what} must be a value that JSON can carry`);
  return JSON.parse(text) as Json;
}

/** @param log hears the values of one `clawd.log` */
export function clawdObject(hook: string, call: Call, log: (values: readonly unknown[]) => void): object {
  const store = {
    get: async (key: unknown): Promise<Json> => call("storeGet", { key: `${key}` }),
    set: async (key: unknown, value: unknown): Promise<void> => {
      await call("storeSet", { key: `${key}`, value: jsonOf(value, "a stored value") });
    },
    delete: async (key: unknown): Promise<void> => {
      await call("storeDelete", { key: `${key}` });
    },
    list: async (prefix: unknown = ""): Promise<string[]> => call("storeList", { prefix: `${prefix}` }),
  };
  const memory = {
    search: async (query: unknown, limit: unknown = HITS): Promise<Calls["memorySearch"][1]> =>
      call("memorySearch", { query: `${query}`, limit: Number(limit) }),
    remember: async (text: unknown): Promise<string> => call("memoryRemember", { text: `${text}` }),
  };
  async function tool(name: unknown, args: unknown = {}): Promise<string> {
    if (typeof args !== "object" || args === null || Array.isArray(args))
      throw new TypeError("a tool's arguments must be an object");
    return call("callTool", {
      tool: `${name}`,
      args: jsonOf(args, "a tool's arguments") as Calls["callTool"][0]["args"],
    });
  }
  return freeze({
    hook,
    log: (...values: unknown[]) => log(values),
    store: freeze(store),
    memory: freeze(memory),
    tool,
  });
}
