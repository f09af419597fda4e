import { readdirSync } from "node:fs";
import { connect as dial } from "node:net";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HostService } from "../../proto/gen/clawd/plugin/v1/host_pb.ts";
import { Wire } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { closeLab, helloFolder, type Lab, NOTHING_LEFT, openLab } from "../fixtures/plugin-lab.ts";
import { dialPlugin } from "./plugin-client.ts";

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
  expect(await lab.host.admin.install(helloFolder, true)).toMatchObject({ ok: true });
  expect(await greet()).toMatchObject({ status: "done" });
});
afterEach(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

const greet = () => lab.call("plugin_hello_greet", { name: "you" });
const socketOf = (name: string) => join(lab.options.runtimeDir, readdirSync(lab.options.runtimeDir)[0] ?? "", name);

test("a caller without the token is turned away by the plugin", async () => {
  const stranger = await dialPlugin(socketOf("p.sock"), "a guess", { wire: Wire.GRPC, protocolMajor: 2 });
  const call = { callId: "c1", sessionId: "s1", workspace: "/w", tool: "greet", args: {}, timeLimitMs: 1000 };
  const news = stranger.callTool(call, new AbortController().signal)[Symbol.asyncIterator]();
  await expect(news.next()).rejects.toThrow(/token of this call is missing or wrong/);
  expect(await stranger.shutdown("go", 1000)).toBe(false);
  stranger.close();
  expect(await greet()).toMatchObject({ status: "done" });
});

test("a caller without the token is turned away by the host", async () => {
  const transport = createGrpcTransport({
    baseUrl: "http://host",
    nodeOptions: { createConnection: () => dial(socketOf("h.sock")) },
  });
  await expect(createClient(HostService, transport).log({ message: "let me in" })).rejects.toThrow(/unauthenticated/);
  expect(lab.host.admin.log("hello")).not.toMatchObject({
    value: expect.arrayContaining([expect.stringContaining("let me in")]),
  });
});

test("bytes that are no HTTP/2 close their own connection only", async () => {
  const socket = dial(socketOf("h.sock"));
  socket.write("GET / HTTP/1.1\r\n\r\n".repeat(1000));
  socket.on("error", () => {});
  socket.resume();
  await new Promise((closed) => socket.once("close", closed));
  expect(await greet()).toMatchObject({ status: "done" });
});
