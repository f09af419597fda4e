import type { EventBody } from "../domain/event.ts";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { Hooks } from "../domain/hook.ts";
import { hookThatSaid, receiptBodies } from "./receipts.ts";
import type { SingleWriter } from "./single-writer.ts";

/** The words after the hooks, and the hooks' receipts, which are to be written with them. */
export type Heard = { readonly text: string; readonly receipts: readonly EventBody[] };

/** Lets the hooks of message.received see the words first. A block is on record, and the message is not said. */
export async function hearMessage(
  hooks: Hooks,
  writer: SingleWriter,
  text: string,
  signal: AbortSignal,
): Promise<Result<Heard>> {
  const { id, workspace, turn } = writer.state();
  const turnId = turn?.id ?? "";
  const event = { at: "message.received", sessionId: id, turnId, callId: "", workspace, value: { text } } as const;
  const { answer, receipts } = await hooks.run(event, signal);
  const bodies = receiptBodies(turnId, "", "message.received", receipts);
  if (answer.do === "block" || answer.do === "ask") {
    const written = await writer.write(() => ok(bodies));
    if (!written.ok) return written;
    return fail("denied", `${hookThatSaid(answer.do, receipts)} did not let the message through: ${answer.because}`);
  }
  const changed = answer.do === "modify" ? answer.value.text : text;
  if (typeof changed === "string") return ok({ text: changed, receipts: bodies });
  return fail("invalid", 'a hook changed the message to something without "text"', {
    hint: "return { modify: { text } }",
  });
}
