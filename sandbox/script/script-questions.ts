import type { ScriptAnswer } from "../../core/domain/admin.ts";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { PermissionQuestion, PersonsWord } from "../../core/domain/permission-decision.ts";

/** How long a person has for an answer, milliseconds. */
const ANSWER_MS = 60_000;

type Asked = { readonly questionId: string; readonly permission: string; readonly expiresAtMs: number };

/** The questions of one run. */
export type RunQuestions = {
  ask(question: PermissionQuestion): Promise<PersonsWord>;
  /** What is open is answered by nobody, and so is what comes. */
  close(): void;
};

export type ScriptQuestions = {
  /** @param tell puts a question before the person */
  open(tell: (asked: Asked) => void): RunQuestions;
  answer(answer: ScriptAnswer): Result<void>;
};

/** The questions of all running scripts, by their ids: an answer comes on a way of its own. */
export function scriptQuestions(now: () => number, newId: () => string): ScriptQuestions {
  const open = new Map<string, (answer: ScriptAnswer | undefined) => void>();

  /** Undefined when nobody answers in time or the run ends. */
  async function hear(questionId: string, closed: Promise<undefined>): Promise<ScriptAnswer | undefined> {
    const answered = Promise.withResolvers<ScriptAnswer | undefined>();
    const timer = setTimeout(() => answered.resolve(undefined), ANSWER_MS);
    open.set(questionId, answered.resolve);
    try {
      return await Promise.race([answered.promise, closed]);
    } finally {
      clearTimeout(timer);
      open.delete(questionId);
    }
  }

  return {
    open(tell) {
      const ending = Promise.withResolvers<undefined>();
      const allowedKinds = new Set<string>();
      return {
        async ask({ permission }) {
          const [kind = ""] = permission.split("=", 1);
          // A script that asks twice for the same is not asked about twice, as with Deno: an answer holds for the run.
          if (allowedKinds.has(kind)) return { said: "yes", scope: "session" };
          const questionId = newId();
          tell({ questionId, permission, expiresAtMs: now() + ANSWER_MS });
          const answer = await hear(questionId, ending.promise);
          if (answer === undefined) return { said: "nobody" };
          if (answer.allowed && answer.allOfKind) allowedKinds.add(kind);
          return { said: answer.allowed ? "yes" : "no", scope: "session" };
        },
        close: () => ending.resolve(undefined),
      };
    },
    answer(answer) {
      const settle = open.get(answer.questionId);
      if (!settle) return fail("not_found", `no script waits for an answer to question ${answer.questionId}`);
      settle(answer);
      return ok(undefined);
    },
  };
}
