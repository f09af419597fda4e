import type { Arguments } from "../args.ts";
import type { Context } from "../command.ts";
import type { Connection } from "../connection.ts";
import { ok, type Result } from "../trouble.ts";
import { resolveSession } from "./session-name.ts";

/** Whose notes a command sees: those of the person, of the folder it is called in, and of the session of `--session`. */
export type Viewer = { readonly workspace: string; readonly sessionId: string };

export async function readViewer(context: Context, args: Arguments, daemon: Connection): Promise<Result<Viewer>> {
  const named = args.text("session");
  const session = named === undefined ? ok("") : await resolveSession(daemon, named);
  return session.ok ? ok({ workspace: context.folder, sessionId: session.value }) : session;
}
