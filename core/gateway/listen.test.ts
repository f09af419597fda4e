import { mkdtemp, rm } from "node:fs/promises";
import { request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { IDLE_LIMIT_MS as CLIENT_IDLE_LIMIT_MS } from "../../cli/connection.ts";
import { listenOnSocket } from "./listen.ts";

test("a client that stalls loses its connection; one that waits for its answer does not", async () => {
  const folder = await mkdtemp(join(tmpdir(), "clawd-listen-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const socket = join(folder, "d.sock");
  const asked = Promise.withResolvers<ServerResponse>();
  const handler = (incoming: { readonly url?: string | undefined }, response: unknown) => {
    if (incoming.url === "/patient") asked.resolve(response as ServerResponse);
  };
  const door = await listenOnSocket(socket, handler, { firstBytesMs: 100, requestMs: 100, lookEveryMs: 20 });
  if (!door.ok) throw new Error(door.failure.message);
  onTestFinished(() => door.value.close());

  const answered = Promise.withResolvers<number | undefined>();
  const patient = request({ socketPath: socket, path: "/patient" }, (response) => {
    response.resume();
    answered.resolve(response.statusCode);
  });
  patient.on("error", answered.reject).end();
  const held = await asked.promise;

  const stalling = [
    "",
    "GE",
    "POST / HTTP/1.1\r\nhost: clawd\r\n",
    "POST / HTTP/1.1\r\ncontent-length: 9\r\nhost: c\r\n\r\n1",
  ];
  const left = stalling.map(async (start) => {
    const client = connect(socket).on("error", () => {});
    const closed = new Promise((resolve) => client.once("close", resolve));
    client.resume().write(start);
    await closed;
  });
  await Promise.all(left);
  held.end("at last");
  expect(await answered.promise).toBe(200);
});

test("a connection that is not used is kept ten times as long as clients keep theirs", async () => {
  const folder = await mkdtemp(join(tmpdir(), "clawd-listen-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const socketPath = join(folder, "d.sock");
  const door = await listenOnSocket(socketPath, (_request, response) => void response.end());
  if (!door.ok) throw new Error(door.failure.message);
  onTestFinished(() => door.value.close());
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const asked = request({ socketPath, headers: { connection: "keep-alive" } }, (response) => {
    response.resume();
    resolve(response.headers["keep-alive"]);
  });
  asked.end();
  const keptMs = Number(/^timeout=(\d+)$/.exec(String(await promise))?.[1]) * 1_000;
  expect(keptMs).toBeGreaterThanOrEqual(10 * CLIENT_IDLE_LIMIT_MS);
});
