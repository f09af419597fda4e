/** Keeps the books of one connection: what a server was asked so that it can be read, and what of that it answered. */
export type RequestLedger = {
  /** Bytes that went to the server, whole lines or parts of them. */
  said(bytes: Buffer): void;
  /** One message of the server's. */
  heard(message: unknown): void;
  /** The requests that have no answer yet and that nobody cancelled, as they were said. */
  open(): readonly string[];
  /** Resolves when there is none. */
  settled(): Promise<void>;
  readonly count: { asked: number; answered: number };
};

type Said = { readonly id?: unknown; readonly method?: unknown; readonly params?: unknown };
const KNOWN_KEYS: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);

export function openLedger(): RequestLedger {
  const asked = new Map<string, { line: string; count: number }>();
  const count = { asked: 0, answered: 0 };
  let rest: Buffer = Buffer.alloc(0);
  let wake = () => {};

  function settle(key: string): void {
    const one = asked.get(key);
    if (one === undefined) return;
    one.count -= 1;
    if (one.count === 0) asked.delete(key);
    if (asked.size === 0) wake();
  }
  function read(line: string): void {
    const said = parsed(line);
    if (said === undefined) return;
    const { id, method, params } = said;
    if (method === "notifications/cancelled" && isObject(params)) {
      const key = JSON.stringify((params as { requestId?: unknown }).requestId) ?? "";
      if (asked.delete(key) && asked.size === 0) wake();
    }
    if (!isReadable(said)) return;
    const key = JSON.stringify(id);
    count.asked += 1;
    asked.set(key, { line, count: (asked.get(key)?.count ?? 0) + 1 });
  }

  return {
    said(bytes) {
      rest = rest.byteLength === 0 ? bytes : Buffer.concat([rest, bytes]);
      for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
        read(rest.toString("utf8", 0, end));
        rest = rest.subarray(end + 1);
      }
    },
    heard(message) {
      if (!isObject(message) || "method" in message || !("id" in message)) return;
      count.answered += 1;
      settle(JSON.stringify(message.id));
    },
    open: () => [...asked.values()].map(({ line }) => line.slice(0, 300)),
    async settled() {
      while (asked.size > 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    count,
  };
}

/** A request by JSON-RPC 2.0 as MCP narrows it: whatever is in its params, somebody waits for its answer. */
export function isReadable(said: Said): boolean {
  const { id, method, params } = said;
  return (
    (said as { jsonrpc?: unknown }).jsonrpc === "2.0" &&
    (typeof id === "string" || Number.isSafeInteger(id)) &&
    typeof method === "string" &&
    (params === undefined || isObject(params)) &&
    Object.keys(said).every((key) => KNOWN_KEYS.has(key))
  );
}

export function parsed(line: string): Said | undefined {
  try {
    const said: unknown = JSON.parse(line);
    return isObject(said) ? said : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
