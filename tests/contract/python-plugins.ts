import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findPythonHome, SDK_FOLDER } from "../kit/python-home.ts";
import type { ContractPlugin } from "./contract-plugin.ts";

const home = findPythonHome(process.env);
const python = home.ready ? home.python : "python3";
const readable = [...(home.ready ? home.packages : []), SDK_FOLDER];
/** They lie beside the plugin's folder here; an author puts them into it. */
const PATHS = `import sys; sys.path[:0] = ${JSON.stringify(readable)}\n`;

/** On gRPC in Python, from a file of fixtures. */
function plugin(title: string, file: string, major: number): ContractPlugin {
  return {
    title,
    command: [python, "main.py"],
    slowly: { command: [python, "slow.py"], files: { "slow.py": "import time\ntime.sleep(1)\nimport main\n" } },
    files: async () => ({
      "main.py": PATHS + readFileSync(join(import.meta.dirname, "fixtures", file), "utf8"),
    }),
    readable,
    major,
    wire: "gRPC",
    missing: home.ready ? undefined : home.missing,
  };
}

export const PYTHON_PLUGINS: readonly ContractPlugin[] = [
  plugin("the library for Python", "python_sync_plugin.py", 2),
  plugin("the library for Python, asyncio", "python_async_plugin.py", 2),
  plugin("grpcio", "grpcio_plugin.py", 1),
  plugin("grpcio, asyncio", "grpcio_async_plugin.py", 1),
];
