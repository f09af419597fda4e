/**
 * Runs inside the sandbox of a child, whose network is its own loopback and nothing else: passes connections on to the
 * proxy's unix socket, which was shown to it, and runs the child's command once it listens. It ends with the command, and
 * the namespace with it. It lives under the same confinement as the command, which may kill it: that is its own loss.
 *
 * Arguments: PORT SOCKET PIPES BYPASS PROGRAM ARGS…
 */
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { constants } from "node:os";
import { PROXY_URL_VARIABLES, proxySettings } from "./proxy-variables.ts";
import { joinSockets } from "./tunnel.ts";

/** As a shell says that a command could not be started. */
const NOT_STARTED_CODE = 126;
const NO_IDLE_LIMIT_MS = 0;

const [port = "", socket = "", pipes = "0", bypass = "", program = "", ...args] = process.argv.slice(2);

function runCommand(): void {
  const url = `http://127.0.0.1:${port}`;
  // First: the command may be up and known to the daemon before `spawn` returns. A signal is heard after that.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  const child = spawn(program, args, {
    env: {
      ...process.env,
      ...proxySettings(bypass),
      ...Object.fromEntries(PROXY_URL_VARIABLES.map((name) => [name, url])),
    },
    stdio: Array.from({ length: 3 + Number(pipes) }, (_, descriptor) => descriptor),
  });
  child.once("error", (error) => {
    process.stderr.write(`${program}: ${error.message}\n`);
    process.exit(NOT_STARTED_CODE);
  });
  child.once("exit", (code, signal) => process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
}

createServer({ allowHalfOpen: true }, (inner) =>
  joinSockets(inner, connect({ path: socket, allowHalfOpen: true }), NO_IDLE_LIMIT_MS),
).listen(Number(port), "127.0.0.1", runCommand);
