import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { platformRefusal } from "./platform.ts";

// `claw` is started by whatever node is on the PATH. This file must therefore parse and run on old ones; everything else
// is loaded behind the check.
const OLDEST_NODE_MAJOR = 24;

const clientFile = fileURLToPath(import.meta.url);

const refusal = platformRefusal(process.platform);
if (refusal !== undefined) {
  process.stderr.write(refusal);
  process.exitCode = 1;
} else if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE_MAJOR) {
  const { continueOnPackagedNode } = await import("./packaged-node.ts");
  continueOnPackagedNode(clientFile, process.argv.slice(2), OLDEST_NODE_MAJOR);
} else {
  const cacheHome = process.env.XDG_CACHE_HOME ?? "";
  const cacheFolder = join(cacheHome === "" ? join(homedir(), ".cache") : cacheHome, "clawd", "node");
  // Before the program is loaded, so that its compiled form is found: some 5 ms of every start.
  process.getBuiltinModule("node:module").enableCompileCache(cacheFolder);
  const { runProgram } = await import("./program.ts");
  process.exitCode = await runProgram({
    argv: process.argv.slice(2),
    env: process.env,
    clientFile,
    packageRoot: dirname(dirname(clientFile)),
    userHome: homedir(),
  });
  // Idle sockets and a paused terminal would keep the program: what is written is flushed, the rest is let go.
  await new Promise<void>((flushed) => process.stdout.write("", () => flushed()));
  process.exit();
}
