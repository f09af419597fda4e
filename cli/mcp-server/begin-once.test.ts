import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { expect, onTestFinished, test } from "vitest";
import { beginOnce } from "./begin-once.ts";

const initialize = (id: number, name: unknown, capabilities: object) => ({
  ...{ jsonrpc: "2.0", id, method: "initialize" },
  params: { protocolVersion: "2025-06-18", capabilities, clientInfo: { name, version: "1" } },
});

function connect() {
  const [lines, answers] = [new PassThrough(), new PassThrough()];
  const said = createInterface({ input: answers })[Symbol.asyncIterator]();
  const wire = new StdioServerTransport(lines, answers);
  const server = new Server({ name: "s", version: "1" });
  const served = serveStdio(() => server, { transport: wire });
  beginOnce(wire);
  onTestFinished(() => served.close());
  return {
    server,
    /** What is answered to messages that come in one piece, by id. */
    async say(...messages: readonly object[]): Promise<ReadonlyMap<number, object>> {
      lines.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
      const heard = new Map<number, object>();
      while (heard.size < messages.length) {
        const answer = JSON.parse((await said.next()).value ?? "");
        heard.set(answer.id, answer);
      }
      return heard;
    },
  };
}

test("a client that begins a second time, even at once, is refused and stays who it was", async () => {
  const { server, say } = connect();
  const begun = await say(initialize(1, "first", { elicitation: {} }), initialize(2, "second", {}));
  expect(begun.get(1)).toHaveProperty("result");
  const later = await say(initialize(3, "third", {}));
  for (const refused of [begun.get(2), later.get(3)]) expect(refused).toMatchObject({ error: { code: -32600 } });
  expect(server.getClientVersion()).toMatchObject({ name: "first" });
  expect(server.getClientCapabilities()).toHaveProperty("elicitation");
});

test("a beginning that could not be read began nothing", async () => {
  const { server, say } = connect();
  expect((await say(initialize(1, 7, {}))).get(1)).toHaveProperty("error");
  expect((await say(initialize(2, "first", {}))).get(2)).toHaveProperty("result");
  expect(server.getClientVersion()).toMatchObject({ name: "first" });
});
