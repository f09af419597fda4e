import { execFile } from "node:child_process";
import type { Ran } from "../kit/claw.ts";

const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024;

type Settings = { readonly env: NodeJS.ProcessEnv; readonly cwd: string };

/** Runs a program to its end. */
export function run(program: string, args: readonly string[], { env, cwd }: Settings, input = ""): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { env, cwd, maxBuffer: OUTPUT_LIMIT_BYTES }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}
