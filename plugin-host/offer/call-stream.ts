import type { ToolNews, ToolResult } from "../link/plugin-link.ts";
import { waitFor } from "../link/wait.ts";
import type { CallOutput } from "./call-output.ts";
import type { ProgressPace } from "./progress-pace.ts";
import { paceReading } from "./reading-pace.ts";

/** A plugin that has given its result must end the stream; nobody waits longer than this to see whether it sends more. */
const AFTER_RESULT_MS = 1_000;

export type HeardCall =
  | { readonly is: "result"; readonly result: ToolResult }
  | { readonly is: "nonsense"; readonly problem: string }
  /** It put out more than a call may. */
  | { readonly is: "flood" }
  | { readonly is: "error"; readonly cause: unknown };

/**
 * Reads the stream of one call; never rejects. Once the result is there, nothing but a second message can spoil it. The next
 * piece is asked for when the last one is dealt with, so a plugin can be no faster than its reader.
 */
export async function hearCallStream(
  stream: AsyncIterable<ToolNews>,
  output: CallOutput,
  pace: ProgressPace,
  isOver: () => boolean,
): Promise<HeardCall> {
  const messages = stream[Symbol.asyncIterator]();
  const rest = paceReading();
  try {
    for (;;) {
      const next = await messages.next();
      if (next.done === true) return { is: "nonsense", problem: "ended the stream without a result" };
      const news = next.value;
      if (isOver()) return { is: "nonsense", problem: "answered too late" };
      switch (news.kind) {
        case "progress":
          pace.line(news.text);
          await rest(news.text.length);
          break;
        case "output":
          if (!output.add(news.data)) return { is: "flood" };
          pace.news();
          await rest(news.data.length);
          break;
        case "result": {
          const after = await waitFor(messages.next(), AFTER_RESULT_MS).catch(() => undefined);
          const more = after?.came === "value" && after.value.done !== true;
          return more
            ? { is: "nonsense", problem: "sent more after its result" }
            : { is: "result", result: news.result };
        }
      }
    }
  } catch (cause) {
    return { is: "error", cause };
  }
}
