import { request } from "node:http";
import { text } from "node:stream/consumers";
import type { FetchLike } from "@modelcontextprotocol/client";

/** The proxy has tried a moment ago, and most often knows at once. */
const ASK_LIMIT_MS = 5_000;
const MAX_WHY = 500;

/** Nobody answered; the message says where and why. */
export class UnreachedError extends Error {}

/**
 * Says who could not be reached, and why: fetch itself tells "fetch failed", and of what its proxy said only a number. What was
 * given up stays as it is.
 * @param proxy the address of the sandbox's proxy; undefined where there is none
 */
export function reachedFetch(fetch: FetchLike, proxy: string | undefined): FetchLike {
  return async (url, init) => {
    try {
      return await fetch(url, init);
    } catch (cause) {
      if (init?.signal?.aborted === true) throw cause;
      const { host, hostname, port, protocol } = new URL(url);
      const root = rootOf(cause);
      const wasRefused = proxy !== undefined && root.startsWith("Proxy response");
      const target = `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
      const why = wasRefused ? ((await askProxy(proxy, target)) ?? root) : root;
      throw new UnreachedError(`${host} cannot be reached: ${why}`, { cause });
    }
  };
}

/** What lies at the bottom of an error, in its own words. */
function rootOf(cause: unknown): string {
  let root = cause;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  if (root instanceof AggregateError && root.message === "") return rootOf(root.errors[0]);
  return root instanceof Error ? root.message : String(root);
}

/** Has the proxy try once more, for its words; undefined when it says none now. */
function askProxy(proxy: string, target: string): Promise<string | undefined> {
  const { hostname, port } = new URL(proxy);
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(ASK_LIMIT_MS);
    const asked = request({ hostname, port, method: "CONNECT", path: target, agent: false, signal });
    asked.once("error", () => resolve(undefined));
    asked.once("connect", (answer, socket, head) => {
      if (answer.statusCode === 200) {
        socket.destroy();
        return resolve(undefined);
      }
      socket.unshift(head);
      text(socket).then(
        (said) =>
          resolve(
            said
              .replace(/^clawd: /, "")
              .trim()
              .slice(0, MAX_WHY) || undefined,
          ),
        () => resolve(undefined),
      );
    });
    asked.end();
  });
}
