import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dial, eventually } from "./kit/claw.ts";
import { type MemoryHouse, openMemoryHouse } from "./kit/memory-house.ts";
import { type ModelReply, type ModelServer, startModelServer } from "./kit/model-server.ts";

/* What is learned of a person, and what models read of it: the very requests, as a scripted model's server gets them. */

let house: MemoryHouse;
let model: ModelServer;
let lesson: () => ModelReply | Promise<ModelReply>;
beforeEach(async () => {
  house = await openMemoryHouse();
  lesson = () => ({ blocks: [{ text: '{"who": "Ada, a weaver"}' }] });
  model = await startModelServer((request) => (isLesson(request.json()) ? lesson() : { blocks: [{ text: "Fine." }] }));
});
afterEach(async () => {
  await house.close();
  await model.close();
});

const up = () => house.up({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: model.url });
const isLesson = (body: JsonObject) => JSON.stringify(body.system ?? "").includes("small profile of one person");
const requests = () => model.requests().map((request) => request.json());
const lessons = () => requests().filter(isLesson);
const systems = () =>
  requests()
    .filter((body) => !isLesson(body))
    .map((body) => JSON.stringify(body.system));
const profile = () => dial(house.home).profile;
const learned = (number: number) =>
  eventually(
    () => profile().showProfile({}),
    ({ version }) => version?.number === number,
    `that version ${number} is learned`,
  );

async function talk(count: number): Promise<string> {
  const sessionId = await house.open();
  for (let message = 1; message <= count; message += 1) await house.say(`message ${message}`, sessionId);
  return sessionId;
}

test("off by default: no request beside the conversation, nothing in prompts, nothing kept", async () => {
  await up();
  await talk(6);
  expect(requests()).toHaveLength(6);
  expect(systems().join()).not.toContain("USER PROFILE");
  expect(await readdir(join(house.home, "sessions"))).not.toContainEqual(expect.stringMatching(/^profile/));
  const shown = await house.claw("profile", "show");
  expect(shown.code).toBe(0);
  expect(shown.stderr).toContain("learning is off");
});

test("the fifth message brings one lesson, and from then on every conversation reads what was learned, also after a restart", async () => {
  await house.config("[profile]\nenabled = true\n");
  await up();
  await talk(4);
  expect(lessons()).toHaveLength(0);
  await talk(1);
  await learned(1);
  expect(lessons()).toHaveLength(1);
  expect(JSON.stringify(lessons()[0]?.messages)).toMatch(/message 1.*message 2.*message 3.*message 4.*message 1/);
  expect(lessons()[0]?.tools ?? []).toEqual([]);
  await talk(1);
  expect(systems().at(-1)).toContain("USER PROFILE:");
  expect(systems().at(-1)).toContain("Ada, a weaver");
  expect(systems()[0]).not.toContain("USER PROFILE");
  await house.down("SIGKILL");
  await up();
  await talk(1);
  expect(systems().at(-1)).toContain("Ada, a weaver");
});

test("another person's data folder never sees it", async () => {
  await house.config("[profile]\nenabled = true\ncadence = 1\n");
  await up();
  await talk(1);
  await learned(1);
  await house.down();
  const other = await openMemoryHouse();
  try {
    await other.config("[profile]\nenabled = true\n");
    await other.up({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: model.url });
    await other.say("hello");
    expect(systems().at(-1)).not.toContain("Ada");
  } finally {
    await other.close();
  }
});

test("a lesson that stalls does not hold up an answer, and the daemon ends in time", { timeout: 60_000 }, async () => {
  lesson = () => ({ silence: true });
  await house.config("[profile]\nenabled = true\ncadence = 1\n");
  await up();
  const sessionId = await talk(1);
  await eventually(
    async () => lessons().length,
    (asked) => asked === 1,
    "that the lesson is asked for",
  );
  await house.say("and another", sessionId);
  expect(systems()).toHaveLength(2);
  await house.down();
  expect(house.log()).toContain("ended");
  expect(house.log()).toContain("profile: nothing was learned");
});

test("bad answers leave the version as it was and are lines in the log", async () => {
  await house.config("[profile]\nenabled = true\ncadence = 1\n");
  await up();
  const sessionId = await talk(1);
  await learned(1);
  const answers = ["I think so", '{"who": 7}', "{}", '```json\n{"focus": "looms"}\n```'];
  for (const [index, text] of answers.entries()) {
    lesson = () => ({ blocks: [{ text }] });
    await house.say("more", sessionId);
    await eventually(
      async () => lessons().length,
      (asked) => asked === index + 2,
      "that a lesson is asked for",
    );
    // The next turn finds the lesson over: what failed is in the log, what was learned is there.
    if (index < 2)
      await eventually(
        async () => house.log(),
        (log) => log.split("nothing was learned").length === index + 2,
        "that it is told",
      );
    else
      await eventually(
        () => profile().showProfile({}),
        ({ waiting }) => waiting === 0,
        "that it is considered",
      );
  }
  const { versions } = await profile().listProfileVersions({});
  expect(versions.map(({ number, profile: told }) => [number, told?.who, told?.focus])).toEqual([
    [2, "Ada, a weaver", "looms"],
    [1, "Ada, a weaver", ""],
  ]);
});

test("the profile is seen and deleted from the command line, and is off the disk and out of the next prompt", async () => {
  await house.config("[profile]\nenabled = true\ncadence = 1\n");
  await up();
  const sessionId = await talk(1);
  await learned(1);
  expect((await house.claw("profile", "show")).stdout).toMatch(/^who\s+Ada, a weaver\n$/);
  const listed = await house.claw("profile", "history", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject({
    number: 1,
    chars: 28,
    messagesProcessed: 1,
    model: expect.stringMatching(/^anthropic\//),
  });
  expect((await house.claw("audit", "verify")).code).toBe(0);
  lesson = () => ({ blocks: [{ text: "{}" }] });
  expect((await house.claw("profile", "delete", "--json")).stdout).toBe('{"versions":1}\n');
  expect(await readdir(join(house.home, "sessions"))).not.toContainEqual(expect.stringMatching(/^profile/));
  await house.say("hello again", sessionId);
  expect(systems().at(-1)).not.toContain("USER PROFILE");
  expect((await house.claw("profile", "history")).stdout).toBe("VERSION\tLEARNED\tMESSAGES\tCHARS\tBY\tPROFILE\n");
  expect((await house.claw("sessions", "list", "--json")).stdout).not.toContain('"profile"');
});

test("a journal of the profile that was damaged ends a turn with a way out", async () => {
  await house.config("[profile]\nenabled = true\ncadence = 1\n");
  await up();
  await talk(1);
  await learned(1);
  await house.down();
  const [name = ""] = (await readdir(join(house.home, "sessions"))).filter((file) => file.startsWith("profile"));
  await writeFile(join(house.home, "sessions", name), "not a line\nnot another\n");
  await up();
  const events = await house.say("hello");
  const failure = events.flatMap(({ body }) => (body.case === "turnEnded" ? (body.value.failure ?? []) : []));
  expect(failure).toHaveLength(1);
  await profile().deleteProfile({});
  await house.say("hello");
  expect(systems()).toHaveLength(2);
});
