import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromJsonString } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { decide } from "../core/domain/decide.ts";
import type { Event } from "../core/domain/event.ts";
import { evolve } from "../core/domain/evolve.ts";
import { emptySession, type Session } from "../core/domain/session.ts";
import { settle } from "../core/domain/settle.ts";
import { openJournal } from "../core/journal/jsonl-journal.ts";
import { EventSchema } from "../proto/gen/clawd/v1/event_pb.ts";

/** One journal of every release, and of every kind of turn: each must fold for ever. */
const FOLDER = join(import.meta.dirname, "journals");
const JOURNALS = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl"));

function eventsOf(name: string): readonly Event[] {
  const lines = readFileSync(join(FOLDER, name), "utf8").trimEnd().split("\n");
  return lines.map((line) => fromJsonString(EventSchema, line, { ignoreUnknownFields: true }));
}

const foldAll = (id: string, events: readonly Event[]): Session => events.reduce(evolve, emptySession(id));

test.each(JOURNALS)("every prefix of %s is a legal session that can go on", (name) => {
  const events = eventsOf(name);
  expect(events.length).toBeGreaterThan(10);
  for (let length = 1; length <= events.length; length += 1) {
    const session = foldAll("s", events.slice(0, length));
    expect(session.seq).toBe(length);
    for (const mayRerun of [true, false]) {
      let settled = session;
      for (const body of settle(session, () => mayRerun))
        settled = evolve(settled, create(EventSchema, { seq: settled.seq + 1, body }));
      const stillRunning = [...settled.calls.values()].filter((call) => call.status !== "ended");
      expect(stillRunning.every((call) => mayRerun && call.status === "running")).toBe(true);
      expect(settled.reply).toEqual([]);
      expect(settled.hookCalls.size).toBe(0);
      expect(settled.programCalls.size).toBe(0);
      expect([...settled.approvals.values()].filter(({ status }) => status === "open")).toEqual([]);
      const next = decide(settled, {
        ...{ kind: "say", messageId: "m", turnId: "t", text: "go on", model: "x/y" },
        ...{ allow: [], yolo: false, attended: false },
      } as const);
      expect(next.ok).toBe(true);
    }
    // Whatever is shown to a model alternates, and every call in it is answered.
    const roles = session.messages.map((message) => message.role);
    expect(roles.every((role, index) => role !== roles[index - 1])).toBe(true);
  }
});

test.each(JOURNALS)("the chain of %s holds", async (name) => {
  const dir = await mkdtemp(join(tmpdir(), "clawd-prefix-"));
  await writeFile(join(dir, "golden.jsonl"), readFileSync(join(FOLDER, name)));
  const journal = await openJournal({ dir, now: () => 0 });
  if (!journal.ok) throw new Error(journal.failure.message);
  expect(await journal.value.verify("golden")).toMatchObject({ ok: true, value: { events: eventsOf(name).length } });
  await journal.value.close();
  await rm(dir, { recursive: true, force: true });
});
