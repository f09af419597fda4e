import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServer, type Shop } from "./mcp-server.ts";
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
  const wire = new StdioServerTransport(process.stdin, process.stdout);
  const served = serveStdio(({ era }) => mcpServer(shop, era, () => visitor), {
    transport: wire,
    onerror: (error) => complain(error.message),
  });
  // It also ends when a client says too much at once, or hears nothing any more: then the stream need not end.
  const before = wire.onclose;
  wire.onclose = () => {
    before?.();
    left.resolve();
  };
  await left.promise;
  visitor.close();
  await served.close();
}
