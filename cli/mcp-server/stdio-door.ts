import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { beginOnce } from "./begin-once.ts";
import { mcpServer, tellLists } from "./mcp-server.ts";
import { readableLines } from "./readable-lines.ts";
import type { Shop } from "./shop.ts";
import type { Visitor } from "./visitor.ts";

/** Serves the one client at the other end of stdin and stdout. Resolves when it has left, or when the signal aborts. */
export async function serveOverStdio(
  shop: Shop,
  visitor: Visitor,
  complain: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const left = Promise.withResolvers<void>();
  for (const end of ["end", "close", "error"] as const) process.stdin.once(end, () => left.resolve());
  signal.addEventListener("abort", () => left.resolve(), { once: true });
  const lines = process.stdin.pipe(readableLines(process.stdout, STDIO_DEFAULT_MAX_BUFFER_SIZE));
  // The library listens once for each message that waits for its reader; how many those are is limited elsewhere.
  process.stdout.setMaxListeners(0);
  const wire = new StdioServerTransport(lines, process.stdout);
  const served = serveStdio(
    ({ era }) => {
      const server = mcpServer(shop, era, () => visitor);
      tellLists(server, shop.news);
      return server;
    },
    { transport: wire, onerror: (error) => complain(error.message) },
  );
  beginOnce(wire);
  // It also ends when a client says too much at once, or hears nothing any more: then the stream need not end.
  const before = wire.onclose;
  wire.onclose = () => {
    before?.();
    left.resolve();
  };
  await left.promise;
  visitor.close();
  await served.close();
  process.stdin.unpipe(lines).pause();
}
