import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApprovalScope, type Event } from "../proto/gen/clawd/v1/event_pb.ts";
import { type Bench, CLAW, dial, eventually, openBench, processesWith, type Ran } from "./kit/claw.ts";

/*
 * Hook points through real processes: real scripts in their isolates, the bins, and a client that speaks the wire itself.
 */

const POINTS = [
  ...["session.created", "message.received", "step.before", "context.build", "model.before", "model.after"],
  ...[
    "tool.before",
    "tool.after",
    "step.after",
    "step.before",
    "model.before",
    "model.after",
    "step.after",
    "turn.ended",
  ],
];

const LISTENER = `/** @hook at=${[...new Set(POINTS)].join(",")} priority=900 on-error=deny timeout=10s */
export default async () => {};
`;
const DOORKEEPER = `/** @hook at=message.received,session.created priority=100 timeout=10s */
export default async (event) => {
  if (event.value.text === "/help") return { skip: true };
  if (event.value.model === "rehearsal/strange") return { block: "only plain ones" };
};
`;
const CURIOUS = `/** @hook at=tool.before priority=200 timeout=10s on-error=deny */
export default async (event) => {
  if (event.value.args.path !== "asked.md") return;
  try {
    const text = await Deno.readTextFile(event.workspace + "/secret.txt");
    return { answer: "the hook read: " + text };
  } catch (error) {
    return { answer: "the hook got: " + error.name };
  }
};
`;

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
  await mkdir(join(bench.home, "hooks"), { recursive: true });
  await writeFile(join(bench.home, "hooks/listener.ts"), LISTENER);
  await writeFile(join(bench.home, "hooks/doorkeeper.ts"), DOORKEEPER);
  await writeFile(join(bench.home, "hooks/curious.ts"), CURIOUS);
  await writeFile(join(bench.workspace, "notes.md"), "the engine weaves patterns\n");
  await writeFile(join(bench.workspace, "secret.txt"), "42");
  await bench.claw("up");
});

afterAll(async () => {
  await bench.close();
  await eventually(
    () => processesWith(bench.home),
    (left) => left.length === 0,
    "the end of every process",
  );
});

function piped(text: string, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { env: bench.env, cwd: bench.workspace };
    const child = execFile(process.execPath, [CLAW, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, stdout, stderr }),
    );
    child.stdin?.end(text);
  });
}

/** Says something over the wire in a session of its own and answers every question; gives back the events. */
async function converse(text: string, scope: ApprovalScope, allowed = true): Promise<readonly Event[]> {
  const { sessions } = dial(bench.home);
  const { sessionId } = await sessions.openSession({ workspace: bench.workspace });
  const events: Event[] = [];
  for await (const { news } of sessions.subscribe({ sessionId, follow: true, canAnswer: true, attended: true })) {
    if (news.case === "caughtUp") await sessions.say({ sessionId, text });
    if (news.case !== "event") continue;
    const { body } = news.value;
    events.push(news.value);
    if (body.case === "approvalAsked") {
      await sessions.answer({ sessionId, approvalId: body.value.approvalId, allowed, scope });
    }
    if (body.case === "turnEnded") break;
  }
  return events;
}

const outputOf = (events: readonly Event[]) =>
  events.flatMap(({ body }) => (body.case === "toolCallEnded" ? [body.value.output] : []));
const questionsOf = (events: readonly Event[]) =>
  events.flatMap(({ body }) => (body.case === "approvalAsked" ? [body.value.permission] : []));

test("a hook hears every front end alike, each point once and in its order", async () => {
  expect(await bench.claw("say", "read notes.md")).toMatchObject({ code: 0 });
  expect(await piped("read notes.md", "chat")).toMatchObject({ code: 0 });
  await converse("read notes.md", ApprovalScope.ONCE);
  const { stdout } = await bench.claw(
    ...["sql", "--json"],
    `select string_agg(body->>'point', ' ' order by seq) as points from events
      where kind = 'hook_ran' and (body->>'hook') = 'listener' group by session`,
  );
  const heard = stdout.trim().split("\n");
  expect(heard.map((line) => JSON.parse(line).points)).toEqual([1, 2, 3].map(() => POINTS.join(" ")));
});

test("a hook that takes a message ends the command well, and no model is asked", async () => {
  const said = await bench.claw("say", "/help");
  expect(said).toMatchObject({ code: 0, stdout: "" });
  expect(said.stderr).toContain("a hook took the message");
});

test("a session that a hook refuses is none, and the command is told why", async () => {
  const before = await bench.claw("sessions", "list", "--json");
  const refused = await bench.claw("say", "hello", "--model", "rehearsal/strange");
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain('hook "doorkeeper" refused the session: only plain ones');
  expect((await bench.claw("sessions", "list", "--json")).stdout).toBe(before.stdout);
});

test("what a hook may touch is asked of any client, and what was said for good is not asked again", async () => {
  const wish = `read=${join(bench.workspace, "secret.txt")}`;
  const refused = await converse("read asked.md", ApprovalScope.ONCE, false);
  expect(questionsOf(refused)).toEqual([wish]);
  expect(outputOf(refused)).toEqual(["the hook got: NotCapable"]);
  const allowed = await converse("read asked.md then read asked.md", ApprovalScope.ALWAYS);
  expect(questionsOf(allowed)).toEqual([wish]);
  expect(outputOf(allowed)).toEqual(["the hook read: 42", "the hook read: 42"]);
  const alone = await bench.claw("say", "read asked.md");
  expect(alone.stdout).toContain("the hook read: 42");
  const { stdout } = await bench.claw("sql", "select allowed, source from permissions order by time");
  expect(stdout.trim().split("\n").slice(1)).toEqual([
    "false\tperson",
    "true\tperson",
    "true\tremembered",
    "true\tremembered",
  ]);
});

test("the journal of hooks is in no list, and cannot be deleted as a session", async () => {
  const { stdout } = await bench.claw("sessions", "list", "--json");
  expect(stdout).not.toContain('"hooks"');
  expect(await bench.claw("sessions", "delete", "hooks")).not.toMatchObject({ code: 0 });
});
