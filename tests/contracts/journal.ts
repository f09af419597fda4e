import { describe, expect, test } from "vitest";
import type { Event, EventBody } from "../../core/domain/event.ts";
import type { Result } from "../../core/domain/failure.ts";
import type { Head, Journal } from "../../core/domain/journal.ts";

/** One journal and a second look at the same stored events, as after a restart. */
export type JournalUnderTest = {
  readonly journal: Journal;
  readonly reopen: () => Promise<Journal>;
  readonly dispose: () => Promise<void>;
};

export function spoke(text: string): EventBody {
  return { case: "userSpoke", value: { messageId: `m-${text.length}`, text } };
}

export function textOf(event: Event): string {
  return event.body.case === "userSpoke" ? event.body.value.text : `(${event.body.case})`;
}

/** Unwraps an outcome that the test does not doubt. */
export function done<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.failure.code}: ${result.failure.message}`, { cause: result.failure.cause });
  return result.value;
}

export async function storedEvents(journal: Journal, sessionId: string, after = 0): Promise<Event[]> {
  const events: Event[] = [];
  const from = { after, follow: false };
  for await (const event of journal.read(sessionId, from, new AbortController().signal)) events.push(event);
  return events;
}

/** Follows until it has so many events, and leaves. */
export async function followedEvents(
  journal: Journal,
  sessionId: string,
  after: number,
  count: number,
): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of journal.read(sessionId, { after, follow: true }, new AbortController().signal)) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

/** What every adapter of the journal port has to do. */
export function journalContract(name: string, open: () => Promise<JournalUnderTest>): void {
  async function withJournal(work: (under: JournalUnderTest) => Promise<void>): Promise<void> {
    const under = await open();
    try {
      await work(under);
    } finally {
      await under.dispose();
    }
  }

  describe(`the journal contract, kept by ${name}`, () => {
    test("events are numbered from 1 without a gap and read back as they were returned", () =>
      withJournal(async ({ journal, reopen }) => {
        done(await journal.create("s1"));
        const first = done(await journal.append("s1", 0, [spoke("a"), spoke("b")]));
        const second = done(await journal.append("s1", 2, [spoke("c")]));
        const all = [...first, ...second];
        expect(all.map(({ seq }) => seq)).toEqual([1, 2, 3]);
        expect(await storedEvents(journal, "s1")).toStrictEqual(all);
        expect(await storedEvents(await reopen(), "s1")).toStrictEqual(all);
      }));

    test("reading after a number gives what follows it", () =>
      withJournal(async ({ journal }) => {
        done(await journal.create("s1"));
        done(await journal.append("s1", 0, [spoke("a"), spoke("b"), spoke("c")]));
        expect((await storedEvents(journal, "s1", 2)).map(textOf)).toEqual(["c"]);
        expect(await storedEvents(journal, "s1", 3)).toEqual([]);
        expect(await storedEvents(journal, "s1", 99)).toEqual([]);
      }));

    test("a writer with another number than the last gets a conflict, and nothing is written", () =>
      withJournal(async ({ journal }) => {
        done(await journal.create("s1"));
        done(await journal.append("s1", 0, [spoke("a")]));
        for (const stale of [0, 2, -1]) {
          expect(await journal.append("s1", stale, [spoke("x")])).toMatchObject({
            ok: false,
            failure: { code: "conflict" },
          });
        }
        expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(["a"]);
      }));

    test("of two writers that race for the same number exactly one wins", () =>
      withJournal(async ({ journal }) => {
        done(await journal.create("s1"));
        for (let seq = 0; seq < 50; seq += 1) {
          const race = ["left", "right"].map((side) => journal.append("s1", seq, [spoke(side)]));
          const outcomes = (await Promise.all(race)).map((result) => (result.ok ? "won" : result.failure.code));
          expect(outcomes.sort()).toEqual(["conflict", "won"]);
        }
        expect(await storedEvents(journal, "s1")).toHaveLength(50);
      }));

    test("appending nothing checks the number and writes nothing", () =>
      withJournal(async ({ journal }) => {
        done(await journal.create("s1"));
        expect(done(await journal.append("s1", 0, []))).toEqual([]);
        expect(await journal.append("s1", 1, [])).toMatchObject({ ok: false, failure: { code: "conflict" } });
      }));

    test("a missing journal gives nothing to read, and nothing can be appended, verified or removed", () =>
      withJournal(async ({ journal }) => {
        expect(await storedEvents(journal, "nobody")).toEqual([]);
        const refusal = { ok: false, failure: { code: "not_found" } };
        expect(await journal.append("nobody", 0, [spoke("a")])).toMatchObject(refusal);
        expect(await journal.verify("nobody")).toMatchObject(refusal);
        expect(await journal.remove("nobody")).toMatchObject(refusal);
      }));

    test("a journal is created once; after removal it begins anew", () =>
      withJournal(async ({ journal }) => {
        done(await journal.create("s1"));
        expect(await journal.create("s1")).toMatchObject({ ok: false, failure: { code: "conflict" } });
        done(await journal.append("s1", 0, [spoke("old")]));
        done(await journal.remove("s1"));
        expect(await storedEvents(journal, "s1")).toEqual([]);
        done(await journal.create("s1"));
        expect(await journal.append("s1", 1, [spoke("stale")])).toMatchObject({ failure: { code: "conflict" } });
        done(await journal.append("s1", 0, [spoke("new")]));
        expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(["new"]);
      }));

    test("an id that could be a path is refused everywhere", () =>
      withJournal(async ({ journal }) => {
        for (const id of ["", "../up", "a/b", "A", "-a", "a.b", "a\n", "ä", "a".repeat(65)]) {
          const refusal = { ok: false, failure: { code: "invalid" } };
          expect(await journal.create(id)).toMatchObject(refusal);
          expect(await journal.append(id, 0, [spoke("x")])).toMatchObject(refusal);
          expect(await journal.remove(id)).toMatchObject(refusal);
          await expect(storedEvents(journal, id)).rejects.toMatchObject({ failure: { code: "invalid" } });
        }
        done(await journal.create("a".repeat(64)));
      }));

    test("whatever text is appended comes back, in one line's worth of events", () =>
      withJournal(async ({ journal, reopen }) => {
        const texts = [
          "",
          "\n\r\n",
          "\u2028\u2029\u0085",
          "\0\u0001\u007f",
          '"}\\",{',
          "👩‍👩‍👧‍👦",
          "\ufeff",
          '","hash":"',
          "x".repeat(300_000),
        ];
        done(await journal.create("s1"));
        done(await journal.append("s1", 0, texts.map(spoke)));
        expect((await storedEvents(await reopen(), "s1")).map(textOf)).toEqual(texts);
      }));

    test("an event that no reader could decode is refused, and the journal goes on", () =>
      withJournal(async ({ journal }) => {
        done(await journal.create("s1"));
        let deep: { [key: string]: unknown } = {};
        for (let depth = 0; depth < 20_000; depth += 1) deep = { deep };
        const bodies = [
          { case: "toolCallStarted", value: { args: { n: Number.NaN } } },
          { case: "toolCallStarted", value: { args: deep } },
          { case: "replyEnded", value: { step: -1 } },
          { case: "replyEnded", value: { step: 0.5 } },
        ] as EventBody[];
        for (const body of bodies) {
          expect(await journal.append("s1", 0, [spoke("before"), body])).toMatchObject({
            failure: { code: "invalid" },
          });
        }
        done(await journal.append("s1", 0, [spoke("after")]));
        expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(["after"]);
      }));

    test("half a surrogate pair becomes a replacement character, for the writer and for every reader", () =>
      withJournal(async ({ journal }) => {
        done(await journal.create("s1"));
        const [event] = done(await journal.append("s1", 0, [spoke("a\ud83d b\udc4d\ud83d \\ud83d 👍")]));
        expect(event && textOf(event)).toBe("a\ufffd b\ufffd\ufffd \\ud83d 👍");
        expect(await storedEvents(journal, "s1")).toStrictEqual([event]);
      }));

    test("a returned event shares nothing with what the writer handed in", () =>
      withJournal(async ({ journal }) => {
        done(await journal.create("s1"));
        const args = { path: "a" };
        const [event] = done(
          await journal.append("s1", 0, [{ case: "toolCallStarted", value: { tool: "read", args } }]),
        );
        args.path = "b";
        expect([event]).toStrictEqual(await storedEvents(journal, "s1"));
      }));

    test("a follower reads what is stored and then what is appended, each event once", () =>
      withJournal(async ({ journal }) => {
        done(await journal.create("s1"));
        done(await journal.append("s1", 0, [spoke("1"), spoke("2")]));
        const followers = [0, 1, 2, 30].map((after) => followedEvents(journal, "s1", after, 60 - after));
        for (let seq = 2; seq < 60; seq += 1) done(await journal.append("s1", seq, [spoke(`${seq + 1}`)]));
        const all = await storedEvents(journal, "s1");
        const heard = await Promise.all(followers);
        expect(heard).toStrictEqual([all, all.slice(1), all.slice(2), all.slice(30)]);
      }));

    test("a follower of a journal that is not there yet hears it from its first event", () =>
      withJournal(async ({ journal }) => {
        const heard = followedEvents(journal, "s1", 0, 2);
        done(await journal.create("s1"));
        const events = done(await journal.append("s1", 0, [spoke("a"), spoke("b")]));
        expect(await heard).toStrictEqual(events);
      }));

    test("a follower ends when its signal aborts, however it waits", () =>
      withJournal(async ({ journal }) => {
        done(await journal.create("s1"));
        done(await journal.append("s1", 0, [spoke("a")]));
        const stop = new AbortController();
        const heard: string[] = [];
        for await (const event of journal.read("s1", { after: 0, follow: true }, stop.signal)) {
          heard.push(textOf(event));
          setImmediate(() => stop.abort());
        }
        expect(heard).toEqual(["a"]);
        for await (const event of journal.read("s1", { after: 0, follow: true }, AbortSignal.abort()))
          heard.push(textOf(event));
        expect(heard).toEqual(["a"]);
      }));

    test("a follower ends when the journal is removed", () =>
      withJournal(async ({ journal }) => {
        done(await journal.create("s1"));
        done(await journal.append("s1", 0, [spoke("a")]));
        const heard: string[] = [];
        for await (const event of journal.read("s1", { after: 0, follow: true }, new AbortController().signal)) {
          heard.push(textOf(event));
          done(await journal.remove("s1"));
        }
        expect(heard).toEqual(["a"]);
      }));

    test("heads name each journal's last event", () =>
      withJournal(async ({ journal }) => {
        for (const id of ["a", "b", "c", "empty"]) done(await journal.create(id));
        done(await journal.append("a", 0, [spoke("1"), { case: "turnEnded", value: { turnId: "t" } }]));
        done(await journal.append("b", 0, [spoke("x".repeat(100_000))]));
        done(await journal.append("c", 0, [{ case: "hookRan", value: { turnId: "", point: "session.closed" } }]));
        const heads: Head[] = [];
        for await (const head of journal.heads()) heads.push(head);
        const found = heads.map((head) => `${head.sessionId} ${head.seq} ${head.lastBody} ${head.lastTurnId}`).sort();
        expect(found).toEqual(["a 2 turnEnded t", "b 1 userSpoke ", "c 1 hookRan ", "empty 0 undefined "]);
      }));

    test("verify counts the events and gives the last hash, the same after a restart", () =>
      withJournal(async ({ journal, reopen }) => {
        done(await journal.create("s1"));
        expect(done(await journal.verify("s1"))).toEqual({ events: 0, headHash: "" });
        done(await journal.append("s1", 0, [spoke("a"), spoke("b")]));
        const verified = done(await journal.verify("s1"));
        expect(verified).toEqual({ events: 2, headHash: expect.stringMatching(/^[0-9a-f]{64}$/) });
        expect(done(await (await reopen()).verify("s1"))).toEqual(verified);
      }));
  });
}
