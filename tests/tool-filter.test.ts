import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Event } from "../proto/gen/clawd/v1/event_pb.ts";
import { eventually } from "./kit/claw.ts";
import { type EmbeddingServer, startEmbeddingServer } from "./kit/embedding-server.ts";
import { type MemoryHouse, openMemoryHouse } from "./kit/memory-house.ts";
import { type ModelReply, type ModelServer, startModelServer } from "./kit/model-server.ts";

/* Which tools a model is shown: the very requests, with vectors of a server that counts words. */

const FILTER = "[agent.tool_filter]\nenabled = true\ntop_k = 2\nalways_on = []\n";

let house: MemoryHouse;
let model: ModelServer;
let vectors: EmbeddingServer;
let script: (index: number) => ModelReply;
beforeEach(async () => {
  house = await openMemoryHouse();
  script = () => ({ blocks: [{ text: "Fine." }] });
  model = await startModelServer((_request, index) => script(index));
  vectors = await startEmbeddingServer(512);
});
afterEach(async () => {
  await house.close();
  await model.close();
  await vectors.close();
});

async function up(more = FILTER): Promise<void> {
  await house.config(`${more}\n[memory]\nembedder = "local"\nembedding_model = "words"\nrecall = false\n`);
  await house.up({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: model.url, LOCAL_BASE_URL: `${vectors.url}/v1` });
}

const shown = (index = -1): readonly string[] => {
  const body = model.requests().at(index)?.json() as JsonObject | undefined;
  return ((body?.tools ?? []) as { name: string }[]).map(({ name }) => name);
};
/** Says the words until a choice was made for them: on a busy machine a turn may do without, since none waits long. */
const chosenFor = (words: string) =>
  eventually(
    async () => choices(await house.say(words)),
    ([choice]) => choice !== undefined && choice.problem === "",
    `that tools are chosen in time for ${JSON.stringify(words)}`,
  );
const choices = (events: readonly Event[]) =>
  events.flatMap(({ body }) => (body.case === "toolsChosen" ? [body.value] : []));

test("off by default: every tool is shown and nothing is embedded for it", async () => {
  await up("");
  expect(choices(await house.say("extract the pages of a document"))).toEqual([]);
  expect(shown().length).toBeGreaterThan(15);
  expect(vectors.requests).toEqual([]);
});

test("the tools nearest to the words are shown, and the event names the others with cosine and rule", async () => {
  await up();
  const [choice] = await chosenFor("extract the text of PDF pages");
  expect(shown()).toContain("pdf_extract_text");
  expect(shown()).not.toContain("shell");
  expect(shown()).toHaveLength(2);
  const shell = choice?.leftOut.find(({ tool }) => tool === "shell");
  expect(shell).toMatchObject({ because: "not among the 2 nearest" });
  expect(shell?.similarity).toBeLessThan(1);
  const before = vectors.texts().length;
  await chosenFor("start a shell command");
  expect(shown()).toContain("shell");
  // Definitions were embedded once; later turns ask for their words alone.
  expect(new Set(vectors.texts().slice(before))).toEqual(new Set(["start a shell command"]));
});

test("what is always on or named stays, by an alias too, and part of a word is no name", async () => {
  await up(FILTER.replace("[]", '["bash"]'));
  await chosenFor("extract the text of PDF pages in this thread, then use ripgrep");
  expect(shown()).toEqual(expect.arrayContaining(["pdf_extract_text", "shell", "grep"]));
  expect(shown()).not.toContain("read");
});

test("a tool that was called in a turn is still shown in its next request", async () => {
  await up();
  await house.files({ "a.md": "hello\n" });
  let calls = 0;
  script = () => {
    calls += 1;
    return { blocks: [calls % 2 === 1 ? { call: "read", args: { path: "a.md" } } : { text: "Done." }] };
  };
  await chosenFor("extract the text of PDF pages");
  expect(shown(-2)).not.toContain("read");
  expect(shown(-1)).toEqual(expect.arrayContaining([...shown(-2), "read"]));
});

test("with the embedding endpoint down every tool is shown, and the event says why", async () => {
  vectors.mischief = (_request, response) => {
    response.writeHead(400, { "content-type": "application/json" });
    response.end('{"error": {"message": "out of order"}}');
    return true;
  };
  await up();
  const [choice] = choices(await house.say("extract the text of PDF pages"));
  expect(choice?.problem).not.toBe("");
  expect(choice?.leftOut).toEqual([]);
  expect(shown().length).toBeGreaterThan(15);
});

test("claw sessions show tells what was left out", async () => {
  await up();
  const sessionId = await house.open();
  await eventually(
    async () => choices(await house.say("extract the text of PDF pages", sessionId)),
    ([choice]) => choice?.problem === "",
    "that tools are chosen",
  );
  const { stderr } = await house.claw("sessions", "show", sessionId);
  expect(stderr).toMatch(/left out \d+ tools: /);
});
