import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const PASSED_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
const UNREACHABLE_EXIT = 4;

/** Runs the same command line on the Node that npm installed beside the program, and ends as that one ends. */
export function continueOnPackagedNode(clientFile: string, argv: readonly string[], oldestMajor: number): void {
  const nodeBinary = findPackagedNode(clientFile);
  if (nodeBinary === undefined) {
    process.stderr.write(
      `claw: needs Node ${oldestMajor} or newer, this is ${process.versions.node}, and no packaged one was found\n` +
        "  → run npm ci in the package's folder, or put a newer node on the PATH\n",
    );
    process.exitCode = UNREACHABLE_EXIT;
    return;
  }
  const child = spawn(nodeBinary, [clientFile, ...argv], { stdio: "inherit" });
  for (const signal of PASSED_SIGNALS) {
    // A terminal sends Ctrl-C to both processes; the program takes two within an instant as one.
    process.on(signal, () => child.kill(signal));
  }
  child.once("error", (cause) => {
    process.stderr.write(`claw: cannot run ${nodeBinary}: ${cause.message}\n`);
    process.exitCode = UNREACHABLE_EXIT;
  });
  child.once("exit", (code, signal) => {
    if (signal === null) {
      process.exit(code ?? 1);
    }
    for (const passed of PASSED_SIGNALS) process.removeAllListeners(passed);
    process.kill(process.pid, signal);
  });
}

function findPackagedNode(clientFile: string): string | undefined {
  try {
    const manifest = createRequire(clientFile).resolve("node/package.json");
    const binary = join(dirname(manifest), "bin", process.platform === "win32" ? "node.exe" : "node");
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined; // The package is not installed; the caller says so.
  }
}
