import { afterEach, expect, test } from "vitest";
import { scriptedHooks } from "../../tests/kit/scripted-hooks.ts";
import {
  cases,
  closeHouses,
  eventsOf,
  isEnd,
  listen,
  NOBODY,
  open,
  openHouse,
  PERSON,
  say,
  stored,
} from "../../tests/kit/session-house.ts";
import { fail, ok } from "../domain/failure.ts";
import type { SlashCall, SlashCommand } from "../domain/slash-command.ts";

afterEach(closeHouses);

const command = (name: string, run: SlashCommand["run"]): SlashCommand => ({ name, description: "", run });
const heardCalls: SlashCall[] = [];
const waiting = Promise.withResolvers<void>();
const commands: readonly SlashCommand[] = [
  command("shout", async (call) => {
    heardCalls.push(call);
    return ok({ do: "say", text: call.args.toUpperCase() });
  }),
  command("help", async () => ok({ do: "show", text: "there is no help" })),
  command("shout", async () => ok({ do: "show", text: "the second one" })),
  command("break", async () => fail("unavailable", 'plugin "p" died', { hint: "mend it" })),
  command("wait", async (_call, signal) => {
    waiting.resolve();
    await new Promise((done) => signal.addEventListener("abort", done));
    return fail("cancelled", "nobody waits any more");
  }),
  command("sure", async ({ desk }) => {
    const word = await desk.confirm("plugin:p", "really?");
    return ok({ do: "show", text: word.said });
  }),
];

async function spoken(text: string): Promise<string | undefined> {
  const house = await openHouse({ replies: [{ text: "done" }], commands });
  const id = await open(house);
  const heard = listen(house, id, NOBODY, isEnd);
  await say(house, id, text);
  const spoke = eventsOf(await heard).find(({ body }) => body.case === "userSpoke")?.body;
  return spoke?.case === "userSpoke" ? spoke.value.text : undefined;
}

test("what a command says is said in the message's place, and hooks hear nothing else", async () => {
  const hooks = scriptedHooks({ "message.received": () => ({ do: "pass" }) });
  const house = await openHouse({ replies: [{ text: "done" }], commands, hooks });
  const id = await open(house);
  const heard = listen(house, id, NOBODY, isEnd);
  expect(await say(house, id, "/shout  hello\nthere ")).toMatchObject({ shown: "" });
  const events = eventsOf(await heard);
  expect(events.map(({ body }) => (body.case === "userSpoke" ? body.value.text : ""))).toContain("HELLO\nTHERE");
  expect(hooks.events).toMatchObject([{ at: "message.received", value: { text: "HELLO\nTHERE" } }]);
  expect(JSON.stringify(events)).not.toContain("/shout");
  expect(heardCalls.at(-1)).toMatchObject({ args: "hello\nthere", sessionId: id, workspace: house.dir });
});

test("what a command shows goes to whoever said it, and nothing is said", async () => {
  const house = await openHouse({ replies: [], commands });
  const id = await open(house);
  const before = cases(await stored(house, id));
  expect(await say(house, id, "/help")).toEqual({ turnId: "", seq: 0, steered: false, shown: "there is no help" });
  expect(cases(await stored(house, id))).toEqual(before);
});

test("a command that fails refuses the message, and nothing is said", async () => {
  const house = await openHouse({ replies: [], commands });
  const id = await open(house);
  const said = await house.sessions.say(id, { text: "/break it", model: "", allow: [], yolo: false });
  expect(said).toMatchObject({ ok: false, failure: { code: "unavailable", message: 'plugin "p" died' } });
  expect(cases(await stored(house, id))).not.toContain("userSpoke");
});

test.each([
  "/unknown words",
  "/",
  "/ shout x",
  "//shout x",
  " /shout x",
  "say /shout x",
  "/shouting x",
  "/usr/bin/env",
])("%j begins with no command and is said as it is", async (text) => {
  expect(await spoken(text)).toBe(text);
});

test("while a command runs the person can be asked", async () => {
  const house = await openHouse({ replies: [], commands });
  const id = await open(house);
  void listen(house, id, PERSON, async (news) => {
    if (news.kind === "event" && news.event.body.case === "approvalAsked") {
      await house.sessions.answer(id, news.event.body.value.approvalId, true, "once");
      return true;
    }
    return false;
  });
  expect(await say(house, id, "/sure")).toMatchObject({ shown: "yes" });
});

test("a command does not outlive the daemon", async () => {
  const house = await openHouse({ replies: [], commands });
  const id = await open(house);
  const said = house.sessions.say(id, { text: "/wait", model: "", allow: [], yolo: false });
  await waiting.promise;
  await house.sessions.close();
  expect(await said).toMatchObject({ ok: false, failure: { code: "cancelled" } });
});
