import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { basename, join, resolve } from "node:path";
import type { Arguments } from "../args.ts";
import type { Context } from "../command.ts";
import { EXIT, fail } from "../trouble.ts";

/** Of a digest, so that two plugins in folders of one name have agents of their own. */
const DIGEST_CHARS = 8;

/** `claw plugin agent FOLDER`: runs the agent in the foreground, until it ends or Ctrl-C. No daemon is needed here. */
export async function runPluginAgent(context: Context, args: Arguments): Promise<number> {
  const folder = resolve(context.folder, args.positionals[0] ?? "");
  const state = args.text("state");
  const orders = {
    folder,
    stateDir: state === undefined ? ownState(context.plan.home, folder) : resolve(context.folder, state),
    token: args.text("token") ?? "",
    listen: args.text("listen") ?? "",
    trusted: args.on("trust"),
    flags: args.open,
  };
  // Not as an argument: everybody on this machine could read the token there.
  const child = spawn(context.plan.nodeBinary, [join(context.packageRoot, "dist", "plugin-agent.js")], {
    cwd: context.folder,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...context.plan.env, CLAWD_AGENT: JSON.stringify(orders) },
  });
  const ended = Promise.withResolvers<number>();
  const onTerminate = (): void => void child.kill("SIGTERM");
  const stopHearing = context.onInterrupt(onTerminate);
  process.once("SIGTERM", onTerminate);
  child.once("error", (cause) =>
    ended.resolve(
      context.report(fail("failed", `the agent cannot be started: ${cause.message}`, "claw doctor").trouble),
    ),
  );
  child.once("exit", (code) => ended.resolve(code ?? EXIT.failed));
  try {
    return await ended.promise;
  } finally {
    stopHearing();
    process.off("SIGTERM", onTerminate);
  }
}

function ownState(home: string, folder: string): string {
  const digest = createHash("sha256").update(folder).digest("hex").slice(0, DIGEST_CHARS);
  return join(home, "agents", `${basename(folder)}-${digest}`);
}
