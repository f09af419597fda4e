import { fork } from "node:child_process";
import { once } from "node:events";
import { appendFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  answerCalls,
  blocksOf,
  collect,
  READ_NOTES,
  testProviderContract,
  userSays,
} from "../../tests/contracts/provider.ts";
import type { Chunk, Prompt, Provider } from "../domain/provider.ts";
import { rehearsalProvider } from "./rehearsal.ts";
import { recordTape, tapeProvider } from "./tape.ts";
import { tapeWriter } from "./tape-file.ts";

let folder = "";
let made = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "clawd-tape-"));
});
afterAll(() => rm(folder, { recursive: true }));

function newFile(): string {
  made += 1;
  return join(folder, `${made}.tape`);
}

const clock = () => {
  let ms = 0;
  return () => (ms += 1.5);
};

async function record(
  file: string,
  prompts: readonly Prompt[],
  provider: Provider = rehearsalProvider(),
): Promise<Chunk[][]> {
  const recorder = recordTape(provider, tapeWriter(file), clock());
  const replies: Chunk[][] = [];
  for (const prompt of prompts) replies.push(await collect(recorder, prompt));
  return replies;
}

async function turn(): Promise<readonly [Prompt, Prompt]> {
  const reply = blocksOf(await collect(rehearsalProvider(), READ_NOTES));
  return [READ_NOTES, answerCalls(READ_NOTES, reply, "three fish")];
}

function failureOf(chunks: readonly Chunk[]) {
  const last = chunks.at(-1);
  if (last?.kind !== "failed") throw new Error(`not failed: ${JSON.stringify(last)}`);
  return last.failure;
}

testProviderContract("a tape", async () => {
  const file = newFile();
  await record(file, await turn());
  return { provider: tapeProvider(file), close: async () => {} };
});

test("a tape replays exactly what was recorded, whatever the model is called", async () => {
  const file = newFile();
  const prompts = await turn();
  const replies = await record(file, prompts);
  const tape = tapeProvider(file);
  for (const [index, prompt] of prompts.entries())
    expect(await collect(tape, { ...prompt, model: file })).toEqual(replies[index]);
});

test("a tape is private, has a version in its first line, and one line a call with times", async () => {
  const file = newFile();
  await record(file, await turn());
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const [first, ...steps] = (await readFile(file, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(first).toEqual({ tape: "clawd", version: 1 });
  expect(steps).toHaveLength(2);
  expect(steps[0]).toMatchObject({ provider: "rehearsal", model: "plain", heard: "read notes.md" });
  const times = steps[0].chunks.map(([ms]: [number]) => ms);
  expect(times).toEqual(times.toSorted((a: number, b: number) => a - b));
});

test("a failure of the model is replayed too, an interruption is not recorded", async () => {
  const file = newFile();
  const failing: Provider = {
    ...rehearsalProvider(),
    async *stream() {
      yield {
        kind: "failed",
        failure: { code: "exhausted", message: "slow down", hint: "wait", cause: new Error("x") },
      };
    },
  };
  await collect(recordTape(rehearsalProvider(), tapeWriter(file), clock()), READ_NOTES, AbortSignal.abort());
  await record(file, [READ_NOTES], failing);
  expect(await collect(tapeProvider(file), READ_NOTES)).toEqual([
    { kind: "failed", failure: { code: "exhausted", message: "slow down", hint: "wait" } },
  ]);
});

test.each([
  ["the system prompt", { ...READ_NOTES, system: "other" }],
  ["the tools", { ...READ_NOTES, tools: [] }],
  ["the last message", { ...READ_NOTES, messages: [userSays("read other.md")] }],
  [
    "the number of messages (1 recorded, now 2)",
    { ...READ_NOTES, messages: [userSays("a"), userSays("read notes.md")] },
  ],
])("a prompt that differs in %s is a conflict that names it and the step", async (what, prompt) => {
  const file = newFile();
  await record(file, await turn());
  const failure = failureOf(await collect(tapeProvider(file), prompt));
  expect(failure).toMatchObject({ code: "conflict", message: expect.stringContaining(what) });
  expect(failure.message).toContain("step 1");
  expect(failure.message.includes('it heard "read notes.md", now it is "read other.md"')).toBe(
    what === "the last message",
  );
});

test("an earlier message that differs is told apart from the last one", async () => {
  const file = newFile();
  const ask = (text: string): Prompt => ({ ...READ_NOTES, messages: [userSays(text), userSays("last")] });
  await record(file, [ask("first")]);
  expect(failureOf(await collect(tapeProvider(file), ask("other"))).message).toContain(
    "what differs: an earlier message",
  );
});

test("behind its last step a tape is exhausted; a session begun again plays from its place", async () => {
  const file = newFile();
  const [first, second] = await turn();
  const replies = await record(file, [first, second]);
  const tape = tapeProvider(file);
  await collect(tape, first);
  await collect(tape, second);
  const other = { ...READ_NOTES, messages: [userSays("something new")] };
  expect(failureOf(await collect(tape, other))).toMatchObject({
    code: "exhausted",
    message: expect.stringContaining("2 calls"),
  });
  expect(await collect(tape, first)).toEqual(replies[0]);
  expect(await collect(tapeProvider(file), second)).toEqual(replies[1]);
});

test("the same prompt recorded twice gets both answers in their order", async () => {
  const file = newFile();
  let count = 0;
  const counting: Provider = {
    ...rehearsalProvider(),
    async *stream() {
      count += 1;
      yield { kind: "block", block: 0, content: { kind: "text", text: `${count}` } };
      yield {
        kind: "end",
        stop: "done",
        usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      };
    },
  };
  await record(file, [READ_NOTES, READ_NOTES], counting);
  const tape = tapeProvider(file);
  const texts = [await collect(tape, READ_NOTES), await collect(tape, READ_NOTES)].map(blocksOf);
  expect(texts).toEqual([[{ kind: "text", text: "1" }], [{ kind: "text", text: "2" }]]);
});

test("the order of keys in arguments and of tools makes no difference", async () => {
  const file = newFile();
  const ask = (args: { a?: number; b?: number }, tools: Prompt["tools"]): Prompt => ({
    ...READ_NOTES,
    tools,
    messages: [
      userSays("x"),
      { role: "assistant", content: [{ kind: "toolCall", callId: "1", tool: "t", args }] },
      userSays("y"),
    ],
  });
  const [one, two] = ["one", "two"].map((name) => ({ name, description: "", input: {} })) as [
    Prompt["tools"][0],
    Prompt["tools"][0],
  ];
  await record(file, [ask({ a: 1, b: 2 }, [one, two])]);
  expect((await collect(tapeProvider(file), ask({ b: 2, a: 1 }, [two, one]))).at(-1)?.kind).toBe("end");
});

test("a last line that was cut off does not count, and recording goes on behind the last whole one", async () => {
  const file = newFile();
  const [first, second] = await turn();
  const replies = await record(file, [first]);
  await appendFile(file, '{"provider":"rehearsal","chu');
  expect(await collect(tapeProvider(file), first)).toEqual(replies[0]);
  replies.push(...(await record(file, [second])));
  const tape = tapeProvider(file);
  expect([await collect(tape, first), await collect(tape, second)]).toEqual(replies);
});

test("a recorder killed at any moment leaves a tape that plays up to its last whole step", async () => {
  const file = newFile();
  const script = join(folder, "recorder.ts");
  const here = import.meta.dirname;
  await writeFile(
    script,
    `import { rehearsalProvider } from ${JSON.stringify(join(here, "rehearsal.ts"))};
     import { recordTape } from ${JSON.stringify(join(here, "tape.ts"))};
     import { tapeWriter } from ${JSON.stringify(join(here, "tape-file.ts"))};
     const provider = recordTape(rehearsalProvider(), tapeWriter(${JSON.stringify(file)}), () => 0);
     const prompt = ${JSON.stringify({ ...READ_NOTES, messages: [userSays(`remember ${"x".repeat(20_000)}`)] })};
     for (let step = 0; ; step += 1) {
       for await (const chunk of provider.stream(prompt, new AbortController().signal)) void chunk;
       if (step === 20) process.send?.("recording");
     }`,
  );
  const child = fork(script, { execArgv: [] });
  await once(child, "message");
  child.kill("SIGKILL");
  await once(child, "exit");
  const prompt = { ...READ_NOTES, messages: [userSays(`remember ${"x".repeat(20_000)}`)] };
  expect((await collect(tapeProvider(file), prompt)).at(-1)?.kind).toBe("end");
  await record(file, [READ_NOTES]);
  expect((await collect(tapeProvider(file), READ_NOTES)).at(-1)?.kind).toBe("end");
});

test("many calls recorded side by side are all on the tape, each whole", async () => {
  const file = newFile();
  const recorder = recordTape(rehearsalProvider(), tapeWriter(file), clock());
  const prompts = Array.from({ length: 30 }, (_, index) => ({
    ...READ_NOTES,
    messages: [userSays(`read ${index}.md`)],
  }));
  const replies = await Promise.all(prompts.map((prompt) => collect(recorder, prompt)));
  const tape = tapeProvider(file);
  for (const [index, prompt] of prompts.entries()) expect(await collect(tape, prompt)).toEqual(replies[index]);
});

test("a file that is no tape stays as it is", async () => {
  for (const text of ["my diary, without a newline", "a\nb\n", '{"tape":"clawd","version":9}\n', '{"tape":"cl\n']) {
    const file = newFile();
    await writeFile(file, text);
    const [reply] = await record(file, [READ_NOTES]);
    expect(["corrupt", "invalid"]).toContain(failureOf(reply ?? []).code);
    expect(failureOf(await collect(tapeProvider(file), READ_NOTES)).code).toMatch(/corrupt|invalid/);
    expect(await readFile(file, "utf8")).toBe(text);
  }
});

test("a broken line in the middle is corrupt and named", async () => {
  for (const line of [
    "{}",
    "nonsense",
    '{"digest":{},"chunks":[]}',
    '{"digest":{},"chunks":[[0,{"kind":"end"}],[1,{"kind":"delta"}]]}',
  ]) {
    const file = newFile();
    await record(file, [READ_NOTES]);
    await appendFile(file, `${line}\n`);
    const failure = failureOf(await collect(tapeProvider(file), READ_NOTES));
    expect(failure).toMatchObject({ code: "corrupt", message: expect.stringContaining("line 3") });
  }
});

test("a tape that cannot be read or written fails with its path", async () => {
  expect(failureOf(await collect(tapeProvider(newFile()), READ_NOTES))).toMatchObject({ code: "not_found" });
  expect(failureOf(await collect(tapeProvider("/dev/zero"), READ_NOTES))).toMatchObject({ code: "invalid" });
  for (const file of [join(folder, "no", "such.tape"), folder, "/dev/full"]) {
    const [reply = []] = await record(file, [READ_NOTES]);
    expect(failureOf(reply)).toMatchObject({
      code: expect.stringMatching(/unavailable|invalid/),
      message: expect.stringContaining(file),
    });
    expect(reply.filter((chunk) => chunk.kind === "end")).toEqual([]);
  }
});

test("a recorder goes on once its file can be written again", async () => {
  const file = join(folder, "later");
  const recorder = recordTape(rehearsalProvider(), tapeWriter(join(file, "a.tape")), clock());
  expect(failureOf(await collect(recorder, READ_NOTES)).code).toBe("unavailable");
  const { mkdir } = await import("node:fs/promises");
  await mkdir(file);
  await chmod(file, 0o700);
  expect((await collect(recorder, READ_NOTES)).at(-1)?.kind).toBe("end");
  expect((await collect(tapeProvider(join(file, "a.tape")), READ_NOTES)).at(-1)?.kind).toBe("end");
});
