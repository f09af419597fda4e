import { createHash } from "node:crypto";
import type { Message, Prompt } from "../domain/provider.ts";

/** How much of the last message is kept in clear, for people who read the tape or look for a difference. */
const HEARD_LIMIT_UNITS = 120;

/** Hex SHA-256 of each part of a prompt. The model's name is not part of it: a tape stands in for any model. */
export type PromptDigest = {
  readonly system: string;
  readonly tools: string;
  readonly messages: number;
  /** All messages but the last. */
  readonly history: string;
  readonly last: string;
};

/** A prompt's digest, and the beginning of its last message in clear. */
export type Asked = { readonly digest: PromptDigest; readonly heard: string };

/** Digests prompts; what it made of a message once is kept with the message. */
export function digester(): { of(prompt: Prompt): Asked } {
  const known = new WeakMap<Message, string>();
  function ofMessage(message: Message): string {
    let digest = known.get(message);
    if (digest === undefined) {
      digest = sha256(canonical(message));
      known.set(message, digest);
    }
    return digest;
  }
  return {
    of({ system, tools, messages }) {
      const specs = tools.map(({ name, description, input }) => canonical({ name, description, input })).toSorted();
      const all = messages.map(ofMessage);
      const history = sha256(all.slice(0, -1).join());
      const digest = {
        system: sha256(system),
        tools: sha256(specs.join()),
        messages: all.length,
        history,
        last: all.at(-1) ?? "",
      };
      return { digest, heard: heardWords(messages.at(-1)) };
    },
  };
}

function heardWords(message: Message | undefined): string {
  const texts = message?.content.flatMap((block) => ("text" in block ? [block.text] : [])) ?? [];
  return texts.join(" ").trim().slice(0, HEARD_LIMIT_UNITS).replaceAll(/\s+/g, " ").toWellFormed();
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** JSON with sorted keys: the same arguments may come in another order out of a journal. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** The parts of two prompts that differ, in words; empty when they are the same. */
export function differences(recorded: PromptDigest, asked: PromptDigest): readonly string[] {
  return [
    ...(recorded.system === asked.system ? [] : ["the system prompt"]),
    ...(recorded.tools === asked.tools ? [] : ["the tools"]),
    ...(recorded.messages === asked.messages
      ? []
      : [`the number of messages (${recorded.messages} recorded, now ${asked.messages})`]),
    ...(recorded.messages === asked.messages && recorded.history !== asked.history ? ["an earlier message"] : []),
    ...(recorded.last === asked.last ? [] : ["the last message"]),
  ];
}
