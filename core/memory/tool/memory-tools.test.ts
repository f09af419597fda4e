import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { quietDesk } from "../../domain/desk.ts";
import { ok } from "../../domain/failure.ts";
import { openJournal } from "../../journal/jsonl-journal.ts";
import { openMemory } from "../memory.ts";
import { memoryTools } from "./memory-tools.ts";

test("a model can search, remember, recall and forget", async () => {
  const home = await mkdtemp(join(tmpdir(), "clawd-memory-tools-"));
  const journal = await openJournal({ dir: join(home, "journal"), now: () => 0 });
  if (!journal.ok) throw new Error(journal.failure.message);
  const workerFile = join(import.meta.dirname, "../worker/memory-worker.ts");
  const memory = openMemory({
    dir: join(home, "memory"),
    dataDir: join(home, "memory"),
    workerFile,
    journal: journal.value,
    newId: () => "n1",
  });
  const tools = new Map(memoryTools(memory).map((tool) => [tool.name, tool]));
  const signal = new AbortController().signal;
  const run = (name: string, args: JsonObject) =>
    tools.get(name)?.run(args, {
      sessionId: "s",
      callId: "c",
      workspace: home,
      signal,
      progress: () => {},
      desk: quietDesk(async () => ok(undefined)),
    });

  await writeFile(join(home, "tea.md"), "\nGreen tea wants 70 degrees.\n");
  for await (const progress of memory.index(home, signal)) expect(progress.ok).toBe(true);
  expect(await run("memory_search", { query: "tea temperature" })).toEqual({
    status: "done",
    output: expect.stringMatching(/^1\. tea\.md:2 \(score \d+\.\d\d\)\nGreen tea wants 70 degrees\.$/),
  });
  expect(await run("remember", { text: `The owner drinks tea. ${"x".repeat(2_000)}` })).toEqual({
    status: "done",
    output: "Remembered as note n1.",
  });
  expect(await run("recall", { query: "owner", limit: 1 })).toEqual({
    status: "done",
    output: expect.stringMatching(
      /^1\. note n1 by agent \(score \d+\.\d\d\)\nThe owner drinks tea\. x+… \(522 more characters\)$/,
    ),
  });
  expect(await run("forget", { id: "n1" })).toEqual({ status: "done", output: "Forgot note n1." });
  expect(await run("forget", { id: "n1" })).toMatchObject({ status: "failed", failure: { code: "not_found" } });
  expect(await run("recall", { query: "owner" })).toEqual({ status: "done", output: "No note matches." });
  await memory.close();
  await journal.value.close();
  await rm(home, { recursive: true });
});
