import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "../domain/command.ts";
import { decide } from "../domain/decide.ts";
import type { Event, EventBody } from "../domain/event.ts";
import { type Failure, fail, ok, type Result } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import { emptySession, type Session } from "../domain/session.ts";
import { settle } from "../domain/settle.ts";
import { hearMessage } from "./hear-message.ts";
import { type Delta, deliverNews, type Listener, type Mailbox, mailbox, type News } from "./news.ts";
import { foldSession, forkBodies, type Summary, summarize } from "./read-session.ts";
import { type SingleWriter, singleWriter } from "./single-writer.ts";
import type { TurnServices } from "./turn-context.ts";
import { runTurn } from "./turn-loop.ts";

/** Sessions kept folded in memory though nothing happens in them. */
const AWAKE_LIMIT = 64;
/** How long an orderly end waits for turns to close, milliseconds. */
const CLOSE_LIMIT_MS = 8_000;
/** How long it waits after that for clients to hear of it, milliseconds. */
const TELL_LIMIT_MS = 1_000;
const TELL_POLL_MS = 5;

export type SayOptions = {
  readonly text: string;
  readonly model: string;
  readonly allow: readonly string[];
  readonly yolo: boolean;
};

export type Said = { readonly turnId: string; readonly seq: number; readonly steered: boolean };

/** Every conversation of the house. Commands in, news out. */
export type SessionRegistry = {
  open(workspace: string, model: string): Promise<Result<string>>;
  say(id: string, options: SayOptions): Promise<Result<Said>>;
  answer(id: string, approvalId: string, allowed: boolean, scope: "once" | "session"): Promise<Result<void>>;
  /** Resolves with the turn that is being stopped. */
  interrupt(id: string): Promise<Result<string>>;
  /** News until the signal aborts; ends by itself without `follow`, and after a fault. */
  subscribe(
    id: string,
    listener: Listener,
    signal: AbortSignal,
  ): Promise<Result<AsyncGenerator<News, void, undefined>>>;
  list(limit: number): Promise<readonly Summary[]>;
  fork(id: string, atSeq: number): Promise<Result<string>>;
  remove(id: string): Promise<Result<void>>;
  /** Takes up the turns that a stop of the daemon left open. */
  resumeOpenTurns(): Promise<void>;
  busy(): number;
  /** Interrupts what runs and waits, within a limit, until it has ended. Nothing is started any more. */
  close(): Promise<void>;
};

/** A session that is folded in memory. */
type Awake = {
  readonly writer: SingleWriter;
  readonly listeners: Map<Mailbox, Listener>;
};

/** A turn that is being worked on. */
type Running = { readonly stop: AbortController; readonly ended: Promise<void> };

export function sessionRegistry(journal: Journal, services: TurnServices): SessionRegistry {
  const awake = new Map<string, Promise<Result<Awake>>>();
  const running = new Map<string, Running>();
  /** How many requests have a session in hand: until they are done it must not be forgotten, or it had two writers. */
  const inHand = new Map<string, number>();
  /** Aborts when no turn may run any more, and then, when nobody is to be told any more. */
  const stopping = new AbortController();
  const closing = new AbortController();

  /** Folds a session's journal, settles what a stop left open, and goes on with its turn. */
  function wake(id: string): Promise<Result<Awake>> {
    const known = awake.get(id);
    if (known !== undefined) {
      // To the end of the line: the one not asked for longest is forgotten first.
      awake.delete(id);
      awake.set(id, known);
      return known;
    }
    const waking = wakeFromJournal(id).then((woken) => {
      if (!woken.ok) awake.delete(id);
      return woken;
    });
    awake.set(id, waking);
    void forgetIdle();
    return waking;
  }

  async function wakeFromJournal(id: string): Promise<Result<Awake>> {
    const folded = await foldSession(journal, id);
    if (!folded.ok) return folded;
    const session = manage(folded.value);
    const left = await settleLeft(session);
    return left.ok ? ok(session) : left;
  }

  function manage(folded: Session): Awake {
    const listeners = new Map<Mailbox, Listener>();
    const onFailure = (failure: Failure) => {
      // What is in memory may be ahead of the disk: forget it. The next request folds what the journal really holds.
      awake.delete(folded.id);
      for (const box of listeners.keys()) void box.put({ kind: "fault", failure }).then(() => box.close());
    };
    return { writer: singleWriter(journal, folded, onFailure), listeners };
  }

  async function settleLeft(session: Awake): Promise<Result<void>> {
    const tools = services.tools();
    const mayRerun = (name: string) => tools.find((tool) => tool.name === name)?.rerun === "safe";
    const written = await session.writer.write((state) => ok(settle(state, mayRerun)));
    if (!written.ok) return written;
    startTurn(session);
    return ok(undefined);
  }

  /** Starts working on the turn that the journal says is open, if any. */
  function startTurn(session: Awake): void {
    const { turn, id } = session.writer.state();
    if (turn === undefined || running.has(id) || stopping.signal.aborted) return;
    const stop = new AbortController();
    const tell = (delta: Delta) => {
      const { seq } = session.writer.state();
      for (const box of session.listeners.keys()) box.offer(delta, seq);
    };
    const answerers = () => [...session.listeners.values()].filter((listener) => listener.canAnswer).length;
    const signal = AbortSignal.any([stop.signal, stopping.signal]);
    const context = { ...services, turnId: turn.id, writer: session.writer, tell, answerers, signal };
    const ended = runTurn(context).finally(() => {
      running.delete(id);
      // A message may have started the next turn before this one left.
      if (session.writer.failure() === undefined) startTurn(session);
      else startLeftTurn(id).catch(services.complain);
    });
    running.set(id, { stop, ended });
  }

  /** After a failed write the session may have been folded anew, with a turn that could not start beside the old one. */
  async function startLeftTurn(id: string): Promise<void> {
    const session = await awake.get(id);
    if (session?.ok) startTurn(session.value);
  }

  /** Wakes a session and keeps it in memory until the work on it is done. */
  async function withSession<T>(id: string, work: (session: Awake) => Promise<Result<T>>): Promise<Result<T>> {
    inHand.set(id, (inHand.get(id) ?? 0) + 1);
    try {
      const session = await wake(id);
      return session.ok ? await work(session.value) : session;
    } finally {
      const left = (inHand.get(id) ?? 1) - 1;
      if (left > 0) inHand.set(id, left);
      else inHand.delete(id);
    }
  }

  async function command(
    session: Awake,
    wanted: Command,
    before: readonly EventBody[] = [],
  ): Promise<Result<readonly Event[]>> {
    return session.writer.write((state) => {
      const decided = decide(state, wanted);
      return decided.ok ? ok([...before, ...decided.value]) : decided;
    });
  }

  /** Keeps the number of folded sessions bounded; one with a turn or a listener stays. */
  async function forgetIdle(): Promise<void> {
    for (const [id, waking] of awake) {
      if (awake.size <= AWAKE_LIMIT) return;
      const session = await waking;
      if (running.has(id) || inHand.has(id) || (session.ok && session.value.listeners.size > 0)) continue;
      if (awake.get(id) === waking) awake.delete(id);
    }
  }

  async function open(workspace: string, model: string): Promise<Result<string>> {
    if (model !== "") {
      const resolved = services.providers.resolve(model);
      if (!resolved.ok) return resolved;
    }
    const sessionId = services.newId("session");
    const decided = decide(emptySession(sessionId), { kind: "open", sessionId, workspace, model });
    if (!decided.ok) return decided;
    return begin(sessionId, decided.value);
  }

  async function begin(sessionId: string, bodies: readonly EventBody[]): Promise<Result<string>> {
    const created = await journal.create(sessionId);
    if (!created.ok) return created;
    const appended = await journal.append(sessionId, 0, bodies);
    if (appended.ok) return ok(sessionId);
    // A journal that holds nothing is no session: a full disk must not leave one behind at every try.
    await journal.remove(sessionId);
    return appended;
  }

  async function sayTo(session: Awake, options: SayOptions): Promise<Result<Said>> {
    if (stopping.signal.aborted) {
      return fail("unavailable", "the daemon is ending", { hint: "say it again: the next one starts by itself" });
    }
    const state = session.writer.state();
    const wantedModel = options.model === "" ? state.model : options.model;
    const resolved = services.providers.resolve(wantedModel);
    if (!resolved.ok) return resolved;
    const { provider, model } = resolved.value;
    const heard = await hearMessage(services.hooks, session.writer, options.text, stopping.signal);
    if (!heard.ok) return heard;
    const wanted: Command = {
      kind: "say",
      messageId: services.newId("message"),
      turnId: services.newId("turn"),
      text: heard.value.text,
      model: `${provider.name}/${model}`,
      allow: options.allow,
      yolo: options.yolo,
      attended: [...session.listeners.values()].some((listener) => listener.attended),
    };
    const said = await command(session, wanted, heard.value.receipts);
    if (!said.ok) return said;
    startTurn(session);
    const spoke = said.value.find((event) => event.body.case === "userSpoke");
    const started = said.value.find((event) => event.body.case === "turnStarted");
    const turnId = session.writer.state().turn?.id ?? wanted.turnId;
    return ok({
      turnId: started === undefined ? turnId : wanted.turnId,
      seq: spoke?.seq ?? 0,
      steered: started === undefined,
    });
  }

  async function interrupt(session: Awake): Promise<Result<string>> {
    const done = await command(session, { kind: "interrupt" });
    if (!done.ok) return done;
    const { id, turn } = session.writer.state();
    running.get(id)?.stop.abort();
    return ok(turn?.id ?? "");
  }

  function listen(session: Awake, listener: Listener, signal: AbortSignal): AsyncGenerator<News, void, undefined> {
    const box = mailbox(listener.after);
    const { id, seq } = session.writer.state();
    const ended = AbortSignal.any([signal, closing.signal]);
    session.listeners.set(box, listener);
    ended.addEventListener("abort", () => box.close(), { once: true });
    void deliverNews(journal, id, listener, seq, box, ended);
    const leave = () => {
      session.listeners.delete(box);
      box.close();
    };
    return box.listen(leave);
  }

  async function list(limit: number): Promise<readonly Summary[]> {
    const rows: Summary[] = [];
    for await (const head of journal.heads()) {
      if (rows.length >= limit) break;
      const row = await summarize(journal, head, running.has(head.sessionId));
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  async function fork(id: string, atSeq: number): Promise<Result<string>> {
    const sessionId = services.newId("session");
    const bodies = await forkBodies(journal, id, sessionId, atSeq);
    return bodies.ok ? begin(sessionId, bodies.value) : bodies;
  }

  async function remove(id: string): Promise<Result<void>> {
    if (running.has(id)) {
      return fail("conflict", `session ${id} has a running turn`, { hint: "stop it first" });
    }
    // One that is corrupt may go; what is no session may not.
    const folded = await foldSession(journal, id);
    if (!folded.ok && folded.failure.code === "not_found") return folded;
    awake.delete(id);
    return journal.remove(id);
  }

  /** Resolves when every listener has heard how its session's last turn ended. */
  async function everyoneTold(): Promise<void> {
    for (const waking of awake.values()) {
      const session = await waking;
      if (!session.ok) continue;
      const { seq } = session.value.writer.state();
      for (const box of session.value.listeners.keys()) {
        while (session.value.listeners.has(box) && box.taken() < seq && !closing.signal.aborted)
          await pause(TELL_POLL_MS);
      }
    }
  }

  async function resumeOpenTurns(): Promise<void> {
    for await (const head of journal.heads()) {
      if (stopping.signal.aborted) return;
      if (head.lastBody !== undefined && !CLOSED.has(head.lastBody)) await wake(head.sessionId);
    }
  }

  return {
    open,
    say: (id, options) => withSession(id, (session) => sayTo(session, options)),
    interrupt: (id) => withSession(id, interrupt),
    subscribe: (id, listener, signal) => withSession(id, async (session) => ok(listen(session, listener, signal))),
    list,
    fork,
    remove,
    resumeOpenTurns,
    async answer(id, approvalId, allowed, scope) {
      const answer = { kind: "answer", approvalId, allowed, scope } as const;
      const done = await withSession(id, (session) => command(session, answer));
      return done.ok ? ok(undefined) : done;
    },
    busy: () => running.size,
    async close() {
      stopping.abort();
      await within(CLOSE_LIMIT_MS, Promise.all([...running.values()].map((turn) => turn.ended)));
      await within(TELL_LIMIT_MS, everyoneTold());
      closing.abort();
    },
  };
}

function within(limitMs: number, work: Promise<unknown>): Promise<unknown> {
  return Promise.race([work, pause(limitMs, undefined, { ref: false })]);
}

/** A journal that ends with one of these has no open turn. */
const CLOSED: ReadonlySet<NonNullable<EventBody["case"]>> = new Set([
  "sessionOpened",
  "turnEnded",
  "memoryRemembered",
  "memoryForgotten",
]);
