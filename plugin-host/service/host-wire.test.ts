import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, request as post } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ok } from "../../core/domain/failure.ts";
import { openJournal } from "../../core/journal/jsonl-journal.ts";
import { createLogRing } from "../link/log-ring.ts";
import { openArtifacts } from "./artifacts.ts";
import { liveCalls } from "./live-calls.ts";
import { openPluginRecords } from "./plugin-records.ts";
import { processServices } from "./process-services.ts";
import { openSecrets } from "./secrets.ts";
import { storeBudget } from "./value-methods.ts";

const SERVICE = "/clawd.plugin.v1.HostService";

let dir = "";
let journal: Awaited<ReturnType<typeof open>>;
let served: { close(): void };

async function open() {
  const opened = await openJournal({ dir, now: () => 1 });
  if (!opened.ok) throw new Error(opened.failure.message);
  return opened.value;
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "clawd-wire-"));
  journal = await open();
  const now = () => 1;
  const services = processServices({
    plugin: "p",
    filesSha256: "ab",
    granted: { allow: [], deny: [] },
    log: createLogRing(now),
    calls: liveCalls(),
    storeBudget: storeBudget(now),
    secrets: openSecrets(join(dir, "secrets")),
    records: openPluginRecords(journal),
    artifacts: openArtifacts(join(dir, "artifacts"), randomBytes),
    recall: async () => ok([]),
    offer: undefined,
    generation: undefined,
    now,
    random: randomBytes,
  });
  served = await services.serve(join(dir, "h.sock"), "secret");
});
afterEach(async () => {
  served.close();
  await journal.close();
  rmSync(dir, { recursive: true });
});

type Answer = { readonly status: number; readonly type: string; readonly text: string };

async function send(method: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const sent = post({
    socketPath: join(dir, "h.sock"),
    method: "POST",
    path: `${SERVICE}/${method}`,
    headers: { "content-type": "application/json", authorization: "Bearer secret", ...headers },
  });
  sent.on("error", () => {});
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode ?? 0, type: response.headers["content-type"] ?? "", text };
}

const works = async () => {
  expect(await send("SetValue", '{"key":"k","value":1}')).toMatchObject({ status: 200, text: "{}" });
  expect(await send("GetValue", '{"key":"k"}')).toMatchObject({ status: 200, text: '{"found":true,"value":1}' });
};

test("an HTTP server's language has all it needs: a POST of JSON", works);

test.for([
  ["no JSON", "SetValue", "{"],
  ["a field that nobody knows", "SetValue", '{"kee":"k","value":1}'],
  ["a value of another kind", "SetValue", '{"key":7,"value":1}'],
  ["100,000 lists in one another", "SetValue", `{"key":"k","value":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  ["100,000 objects in one another", "CallTool", `{"args":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`],
  ["5 MiB", "SetValue", JSON.stringify({ key: "k", value: "x".repeat(5 * 1024 * 1024) })],
  ["no such method", "Explode", "{}"],
] as const)("%s is refused, and the next request is served", async ([, method, body]) => {
  const { status, text } = await send(method, body);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(text).not.toContain("node_modules");
  await works();
});

test.for(["", "Bearer", "Bearer secre", "bearer secret", "Bearer secret ", "Basic c2VjcmV0"])(
  "the token %j is turned away unread, in the words of each wire",
  async (authorization) => {
    // HTTP takes the space at a header's end away: it is the token then.
    if (authorization.trim() === "Bearer secret") return works();
    const json = await send("SetValue", "not even read", { authorization });
    expect(json).toMatchObject({ status: 401, type: "application/json" });
    expect(JSON.parse(json.text)).toMatchObject({ code: "unauthenticated" });
    const grpc = await send("SetValue", "x", { authorization, "content-type": "application/grpc" });
    expect(grpc).toMatchObject({ status: 200, type: "application/grpc", text: "" });
  },
);
