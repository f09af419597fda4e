import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createLogRing } from "./log-ring.ts";

test("it keeps the last 200 lines", () => {
  const log = createLogRing(() => 0);
  for (let line = 1; line <= 250; line++) log.add("log", String(line));
  expect(log.lines()).toHaveLength(200);
  expect(log.lines().at(0)).toBe("log: 51");
  log.add("log", "x\n".repeat(100_000));
  expect(log.lines()).toHaveLength(200);
});

test("a stream is cut into lines wherever its chunks end, letters of several bytes included", async () => {
  const log = createLogRing(() => 0);
  const stream = new PassThrough();
  const drained = log.drain("stdout", stream);
  const bytes = Buffer.from("grün\nrot\nohne Ende");
  for (const byte of bytes) stream.write(Buffer.from([byte]));
  stream.end();
  await drained;
  expect(log.lines()).toEqual(["stdout: grün", "stdout: rot", "stdout: ohne Ende"]);
});

test("a level that a line says itself is not said twice", async () => {
  const log = createLogRing(() => 0);
  const stream = new PassThrough();
  const drained = log.drain("stderr", stream);
  stream.end('info: ready\n[WARN] slow\n{"level":"error","msg":"gone"}\n');
  await drained;
  expect(log.lines()).toEqual(["stderr: info: ready", "stderr: [WARN] slow", "stderr: error gone"]);
});

test("a line without end takes no more memory than its limit", async () => {
  const log = createLogRing(() => 0);
  const stream = new PassThrough();
  const drained = log.drain("stderr", stream);
  for (let block = 0; block < 64; block++) stream.write("x".repeat(64 * 1024));
  stream.end("\n");
  await drained;
  expect(log.lines()).toEqual([`stderr: ${"x".repeat(64 * 1024)} … (${63 * 64 * 1024} more characters)`]);
});

test("last words are those of the present life", () => {
  const log = createLogRing(() => 0);
  log.add("stderr", "old sorrow");
  log.startLife("started");
  expect(log.lastErrors()).toBe("");
  log.add("stderr", "new sorrow");
  log.add("stdout", "chatter");
  log.add("host", "it died");
  expect(log.lastErrors()).toBe("new sorrow");
});

test("a flood is counted instead of kept, but its last words are there", async () => {
  let nowMs = 0;
  const log = createLogRing(() => nowMs);
  const stream = new PassThrough();
  const drained = log.drain("stderr", stream);
  for (let line = 1; line <= 5_000; line++) stream.write(`line ${line}\n`);
  stream.end("out of cheese\n");
  await drained;
  expect(log.lines().at(-2)).toBe("stderr: line 1000");
  expect(log.lines().at(-1)).toBe("host: 4001 lines were dropped: it writes more than 1000 a second");
  expect(log.lastErrors().endsWith("line 5000\nout of cheese")).toBe(true);
  log.add("host", "it died");
  nowMs += 1_000;
  log.add("log", "a new second");
  expect(log.lines().slice(-2)).toEqual(["host: it died", "log: a new second"]);
});

test("of a flood in one piece the first lines are kept and the last ones heard, and none is counted twice", async () => {
  const log = createLogRing(() => 0);
  const stream = new PassThrough();
  const drained = log.drain("stderr", stream);
  stream.write("a line in");
  stream.write(` two pieces\n${Array.from({ length: 5_000 }, (_, index) => `line ${index + 1}\n`).join("")}torn`);
  stream.end(" off");
  await drained;
  expect(log.lines().at(-2)).toBe("stderr: line 999");
  expect(log.lines().at(-1)).toBe("host: 4002 lines were dropped: it writes more than 1000 a second");
  expect(log.lastErrors().endsWith("line 4999\nline 5000\ntorn off")).toBe(true);
});

test("who floods the log waits for its reader, and everything is read in the end", async () => {
  const log = createLogRing(() => 0);
  const stream = new PassThrough();
  const drained = log.drain("stderr", stream);
  const paused = new Promise((resolve) => stream.once("pause", resolve));
  for (let block = 0; block < 8; block++) stream.write(`${"x".repeat(64 * 1024 - 1)}\n`);
  await paused;
  stream.end("the last line\n");
  expect(log.lines().at(-1)).not.toBe("stderr: the last line");
  await drained;
  expect(log.lines().at(-1)).toBe("stderr: the last line");
});

test("secrets are blotted out as long as they are ones", () => {
  const log = createLogRing(() => 0);
  const forget = log.redact(["s3cr3t-token", "short"]);
  log.add("stderr", "Bearer s3cr3t-token, in short");
  forget();
  log.add("stderr", "s3cr3t-token");
  expect(log.lines()).toEqual(["stderr: Bearer [redacted], in short", "stderr: s3cr3t-token"]);
  expect(log.lastErrors()).toBe("Bearer [redacted], in short\ns3cr3t-token");
});
