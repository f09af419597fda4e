import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { openConversation } from "../conversation.ts";
import { readCount } from "../number.ts";
import { watchSession } from "../watch.ts";
import { resolveSession } from "./session-name.ts";

/** `claw attach ID`: replays a session and follows it; without a terminal, until no turn runs. */
export async function attach(context: Context, args: Arguments): Promise<number> {
  const after = readCount("--after", args.text("after") ?? "0");
  if (!after.ok) return context.report(after.trouble);
  return withDaemon(context, async (daemon) => {
    const id = await resolveSession(daemon, args.positionals[0] ?? "");
    if (!id.ok) return context.report(id.trouble);
    const conversation = openConversation(context, daemon, id.value);
    const { screen } = context;
    if (context.attended && !args.on("json"))
      screen.note(screen.paintNote("dim", `following session ${id.value}; Ctrl-C stops its turn, again leaves`));
    try {
      const { exit } = await watchSession(context, conversation, {
        // From the first event on: whether a turn runs may be written before `--after`.
        after: 0,
        showAfter: after.value,
        muteHistory: false,
        echoUser: true,
        json: args.on("json"),
        until: context.attended ? "person" : "quiet",
      });
      return exit;
    } finally {
      conversation.close();
    }
  });
}
