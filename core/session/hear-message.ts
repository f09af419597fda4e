import type { EventBody } from "../domain/event.ts";
import { fail, ok, type Result } from "../domain/failure.ts";
import { fireHooks } from "./turn/fire-hooks.ts";
import { hookThatSaid } from "./turn/receipts.ts";
import type { TurnContext } from "./turn/turn-context.ts";

/** The words after the hooks, undefined when one of them took the message; and the receipts, to be written with them. */
export type Heard = { readonly text: string | undefined; readonly receipts: readonly EventBody[] };

/** Lets the hooks of message.received see the words first. What is blocked is not said, and its receipts are durable. */
export async function hearMessage(turn: TurnContext, text: string): Promise<Result<Heard>> {
  const { answer, receipts, bodies } = await fireHooks(turn, { at: "message.received", value: { text } });
  if (answer.do === "block" || answer.do === "ask") {
    const written = await turn.writer.write(() => ok(bodies));
    if (!written.ok) return written;
    return fail("denied", `${hookThatSaid(answer.do, receipts)} did not let the message through: ${answer.because}`);
  }
  // Whoever skips here has dealt with the message, whatever hooks before it made of the words.
  if (receipts.some(({ verdict, ran }) => verdict === "skip" && ran)) return ok({ text: undefined, receipts: bodies });
  const changed = answer.do === "modify" ? answer.value.text : text;
  if (typeof changed === "string") return ok({ text: changed, receipts: bodies });
  return fail("invalid", 'a hook changed the message to something without "text"', {
    hint: "return { modify: { text } }",
  });
}
