import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type OutgoingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Wire } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { dialPlugin } from "./plugin-client.ts";

/** How many connections a plugin over HTTP/1.1 gets for three calls, one after the other. */
async function connectionsFor(headers: OutgoingHttpHeaders): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "client-"));
  const path = join(folder, "p.sock");
  // It keeps connections open for longer than it says, as it should.
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.end("{}");
  });
  let connections = 0;
  server.on("connection", () => connections++);
  server.listen(path);
  await once(server, "listening");
  const link = await dialPlugin(path, "token", { wire: Wire.CONNECT_JSON, protocolMajor: 1 });
  for (let call = 0; call < 3; call += 1) expect(await link.answers(5_000)).toBe(true);
  link.close();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  rmSync(folder, { recursive: true });
  return connections;
}

test.each([
  { what: "that says for how long it stays open is used again", headers: { "keep-alive": "timeout=30" }, expected: 1 },
  { what: "that says that it is about to end is not", headers: { "keep-alive": "timeout=1" }, expected: 3 },
  { what: "that says nothing is not", headers: { connection: "close" }, expected: 3 },
  { what: "that only stays open is not", headers: { connection: "keep-alive", "keep-alive": "max=9" }, expected: 3 },
])("a connection $what", async ({ headers, expected }) => {
  expect(await connectionsFor(headers)).toBe(expected);
});
