import { type ScriptQuestion, ScriptService } from "../proto/gen/clawd/v1/admin_pb.ts";
import type { Context } from "./command.ts";
import type { Connection } from "./connection.ts";
import { escapeLine, shorten } from "./escape.ts";
import { isInterrupt, readKey } from "./key.ts";

/** Questions of a running script that the person at this terminal decides, one after the other. */
export type ScriptQuestions = {
  asked(question: ScriptQuestion): void;
  close(): void;
};

const DECISIONS: Readonly<Record<string, { readonly allowed: boolean; readonly allOfKind: boolean }>> = {
  y: { allowed: true, allOfKind: false },
  a: { allowed: true, allOfKind: true },
  n: { allowed: false, allOfKind: false },
};
/** Longest wish that is shown, UTF-16 units; the daemon asks about none that is longer. */
const WISH_CHARS = 1200;

/** @param interrupt Ctrl-C was pressed in place of an answer */
export function openScriptQuestions(
  context: Context,
  daemon: Connection,
  script: string,
  interrupt: () => void,
): ScriptQuestions {
  const { screen } = context;
  const closing = new AbortController();
  let before: Promise<void> = Promise.resolve();

  async function decide({ questionId, permission, expiresAtMs }: ScriptQuestion): Promise<void> {
    // Its time runs while others are answered; one that has lapsed is not put before anybody.
    const leftMs = expiresAtMs - Date.now();
    if (leftMs <= 0 || closing.signal.aborted) return;
    const [kind = ""] = permission.split("=", 1);
    const question = `  allow? [y] yes · [n] no · [a] all of ${kind} `;
    const show = (): void => {
      screen.note(`${script} asks for ${shorten(escapeLine(permission), WISH_CHARS)}`);
      screen.ask(question);
    };
    const until = AbortSignal.any([closing.signal, AbortSignal.timeout(leftMs)]);
    const key = await readKey(context.stdin, { wanted: Object.keys(DECISIONS), show }, until);
    screen.unask();
    if (isInterrupt(key)) return interrupt();
    const decision = DECISIONS[key ?? ""];
    if (decision === undefined) return;
    const told = await daemon.call(ScriptService.method.answerScript, { questionId, ...decision });
    if (!told.ok && !closing.signal.aborted) screen.note(`  ${told.trouble.message}`);
  }

  return {
    asked(question) {
      before = before.then(() => decide(question));
    },
    close() {
      closing.abort();
      screen.unask();
    },
  };
}
