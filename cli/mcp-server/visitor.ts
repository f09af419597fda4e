import { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import { ok, type Result } from "../trouble.ts";
import type { House } from "./house.ts";
import type { Asked, Work } from "./work.ts";

/** Work that waits for its client to come back with an answer; more than one client's person can look at. */
const HELD_MAX = 32;
/** How long it waits, milliseconds: longer than the daemon lets a question stand. */
const HELD_LIMIT_MS = 10 * 60_000;
/** Calls and messages at once. */
const UNDER_WAY_MAX = 64;
/** Questions remembered as asked of this client. */
const ASKED_MAX = 1_000;

/** What a request was about, so that an answer is taken for no other. */
export type Held = { readonly work: Work; readonly asked: Asked; readonly request: string };

/** One client and what it began here. */
export type Visitor = {
  /** The session that its calls or its words go to, opened when it is first needed. */
  session(of: "calls" | "words"): Promise<Result<string>>;
  /** False when this client was asked that question before: two of its calls may wait for the same. */
  claim(approvalId: string): boolean;
  /** Keeps work until `take` is given the key; undefined when too much is kept. */
  hold(held: Held): string | undefined;
  take(key: string): Held | undefined;
  /** True while it has as much under way as one client may. */
  isFull(): boolean;
  /** Keeps track of what is under way; `close` stops it. */
  began(work: Work): () => void;
  close(): void;
};

export type VisitorPlan = {
  readonly workspace: string;
  /** The session that is used; undefined for new ones. */
  readonly session: string | undefined;
  readonly newKey: () => string;
};

export function openVisitor(house: House, { workspace, session, newKey }: VisitorPlan): Visitor {
  const opened = new Map<string, Promise<Result<string>>>();
  const asked = new Set<string>();
  const held = new Map<string, { readonly held: Held; readonly timer: NodeJS.Timeout }>();
  const underWay = new Set<Work>();

  async function open(): Promise<Result<string>> {
    const answer = await house.call(SessionService.method.openSession, { workspace });
    return answer.ok ? ok(answer.value.sessionId) : answer;
  }

  return {
    async session(of) {
      if (session !== undefined) return ok(session);
      const opening = opened.get(of) ?? open();
      opened.set(of, opening);
      const got = await opening;
      if (!got.ok) opened.delete(of);
      return got;
    },
    claim(approvalId) {
      if (asked.has(approvalId)) return false;
      if (asked.size >= ASKED_MAX) asked.clear();
      asked.add(approvalId);
      return true;
    },
    hold(one) {
      if (held.size >= HELD_MAX) return undefined;
      const key = newKey();
      const timer = setTimeout(() => {
        held.delete(key);
        one.work.stop();
      }, HELD_LIMIT_MS);
      timer.unref();
      held.set(key, { held: one, timer });
      return key;
    },
    take(key) {
      const found = held.get(key);
      clearTimeout(found?.timer);
      held.delete(key);
      return found?.held;
    },
    isFull: () => underWay.size >= UNDER_WAY_MAX,
    began(work) {
      underWay.add(work);
      return () => underWay.delete(work);
    },
    close() {
      for (const { timer } of held.values()) clearTimeout(timer);
      for (const work of [...underWay, ...[...held.values()].map((one) => one.held.work)]) work.stop();
      held.clear();
    },
  };
}
