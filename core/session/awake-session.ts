import type { Command } from "../domain/command.ts";
import { decide } from "../domain/decide.ts";
import type { Event, EventBody } from "../domain/event.ts";
import { type Failure, ok, type Result } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import { isStrangersCallId, type Session } from "../domain/session.ts";
import type { Tool } from "../domain/tool.ts";
import { deliverNews, type Listener, type Mailbox, mailbox, type News } from "./news.ts";
import { type SingleWriter, singleWriter } from "./turn/single-writer.ts";
import type { Delta, TurnContext, TurnServices } from "./turn/turn-context.ts";

/** A session that is folded in memory. */
export type Awake = {
  readonly writer: SingleWriter;
  readonly listeners: Map<Mailbox, Listener>;
  readonly nextHookCall: () => number;
  readonly oneQuestion: TurnContext["oneQuestion"];
};

/** Takes a folded session into hand. `onFailure` is told once, when its journal takes nothing more; so are its listeners. */
export function awakeSession(journal: Journal, folded: Session, onFailure: () => void): Awake {
  const listeners = new Map<Mailbox, Listener>();
  let { lastHookCall } = folded;
  function fail(failure: Failure): void {
    onFailure();
    for (const box of listeners.keys()) void box.put({ kind: "fault", failure }).then(() => box.close());
  }
  function nextHookCall(): number {
    lastHookCall += 1;
    return lastHookCall;
  }
  return { writer: singleWriter(journal, folded, fail), listeners, nextHookCall, oneQuestion: oneQuestionAtATime() };
}

/** Decides a command on the session's state and writes what came of it, after what is to stand before it. */
export function commandSession(
  { writer }: Awake,
  wanted: Command,
  before: readonly EventBody[] = [],
): Promise<Result<readonly Event[]>> {
  return writer.write((state) => {
    const decided = decide(state, wanted);
    return decided.ok ? ok([...before, ...decided.value]) : decided;
  });
}

/** The tools that conversations in a folder have. */
export function toolsIn({ tools }: Pick<TurnServices, "tools">, workspace: string): readonly Tool[] {
  return tools().filter((tool) => tool.workspace === undefined || tool.workspace === workspace);
}

/** What a turn works with, or, with an empty id, hooks outside of one. */
export function atWork(
  services: TurnServices,
  { listeners, ...session }: Awake,
  of: Pick<TurnContext, "turnId" | "signal" | "lastSignal">,
): TurnContext {
  const tell = (delta: Delta) => {
    const { seq } = session.writer.state();
    for (const box of listeners.keys()) box.offer(delta, seq);
  };
  const answerers = (about: string) =>
    [...listeners.values()].filter(
      ({ canAnswer, callId }) => canAnswer && (callId === undefined || callId === about || isStrangersCallId(about)),
    ).length;
  const { workspace } = session.writer.state();
  const tools = () => toolsIn(services, workspace);
  return { ...services, ...session, ...of, tell, answerers, tools };
}

/** Brings a session's news to a listener until the signal aborts. */
export function listenTo(
  journal: Journal,
  { writer, listeners }: Awake,
  listener: Listener,
  signal: AbortSignal,
): AsyncGenerator<News, void, undefined> {
  const box = mailbox(listener.after);
  const { id, seq } = writer.state();
  listeners.set(box, listener);
  signal.addEventListener("abort", () => box.close(), { once: true });
  void deliverNews(journal, id, listener, seq, box, signal);
  return box.listen(() => {
    listeners.delete(box);
    box.close();
  });
}

/** In the order of asking. */
function oneQuestionAtATime(): TurnContext["oneQuestion"] {
  let last: Promise<unknown> = Promise.resolve();
  return async (ask, signal) => {
    const before = last;
    const over = Promise.withResolvers<void>();
    last = before.then(() => over.promise);
    const stop = () => over.resolve();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      await Promise.race([before, over.promise]);
      signal.removeEventListener("abort", stop);
      return await ask();
    } finally {
      over.resolve();
    }
  };
}
