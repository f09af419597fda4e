// Everything that can be told without running the whole house, one line a step. The first failure stops and names the
// one command that repeats it.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { DIGESTS, digestOf } from "./bundle.ts";

type Step = { readonly name: string; readonly command: readonly [string, ...string[]] };

/** Suites of attacks, crashes and child processes by the dozen: `npm test` runs them, an author need not wait for them. */
const LEFT_TO_NPM_TEST = [
  "core/journal/killed-writer.test.ts",
  "core/memory/eval/eval-sets.test.ts",
  "core/memory/index-full-disk.test.ts",
  "core/memory/index-kill.test.ts",
  "core/memory/memory.test.ts",
  "core/memory/search.test.ts",
  "core/memory/source/pdf-text.test.ts",
  "core/memory/sql/journal-query.test.ts",
  "core/memory/sql/memory-views.test.ts",
  "plugin-host/install/unpack.test.ts",
  "plugin-host/life/misbehaving.test.ts",
  "plugin-host/life/reload.test.ts",
  "plugin-host/life/stop-ladder.test.ts",
  "plugin-host/offer/plugin-hooks.test.ts",
  "plugin-host/offer/plugin-offers.test.ts",
  "plugin-host/sdk-rust/sdk-rust.test.ts",
  "plugin-host/service/host-service.test.ts",
  "plugins-examples/image-resize/image-resize.test.ts",
  "plugin-host/sdk-go/sdk-go.test.ts",
  "plugins-examples/code-search/code-search.test.ts",
  "plugins-examples/misbehave/misbehave.test.ts",
  "sandbox/hook/hook-attacks.test.ts",
  "sandbox/hook/script-hooks.test.ts",
  "sandbox/isolate/engine-kills.test.ts",
  "sandbox/isolate/host-process.test.ts",
  "sandbox/os/group-limits.test.ts",
  "sandbox/os/lease.test.ts",
  "sandbox/script/open-scripts.test.ts",
];

const STYLE = "--config-path=.ci/style.json";
const STEPS: readonly Step[] = [
  { name: "format and lint", command: ["biome", "ci", STYLE, "--error-on-warnings", "."] },
  {
    name: "floating promises",
    command: [
      "oxlint",
      "--type-aware",
      "-A",
      "all",
      "-D",
      "typescript/no-floating-promises",
      "-D",
      "typescript/no-misused-promises",
      "--ignore-pattern",
      "proto/gen/**",
      "--ignore-pattern",
      "dist/**",
      "--ignore-pattern",
      "tests/deno/**",
      "--ignore-pattern",
      "tests/contract/fixtures/*.mjs",
      ".",
    ],
  },
  { name: "types", command: ["tsc", "--noEmit", "-p", "."] },
  { name: "proto lint", command: ["buf", "lint"] },
  { name: "proto format", command: ["buf", "format", "--diff", "--exit-code"] },
  { name: "proto generated", command: ["buf", "generate", "--template", "proto/buf.gen.yaml"] },
  { name: "generated code has no diff", command: ["git", "diff", "--exit-code", "--stat", "--", "proto/gen"] },
  { name: "kernel is as its source", command: ["node", ".ci/kernel.ts", "--check"] },
  {
    name: "unit tests and tidy",
    command: [
      "vitest",
      "run",
      "--config",
      ".ci/vitest.config.ts",
      "--root",
      ".",
      "--reporter=dot",
      "core/",
      "sandbox/",
      "plugin-host/",
      "plugins-examples/",
      "cli/",
      "tests/tidy",
      ...LEFT_TO_NPM_TEST.flatMap((file) => ["--exclude", file]),
    ],
  },
];

function run({ name, command: [program, ...args] }: Step): boolean {
  const startedMs = performance.now();
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1).padStart(5);
  console.log(`${status === 0 ? "ok  " : "FAIL"} ${seconds} s  ${name}`);
  if (status === 0) return true;
  console.log(`${stdout ?? ""}${stderr ?? ""}\nrepeat it with: npm exec -- ${[program, ...args].join(" ")}`);
  return false;
}

/** A bundle older than its sources would test and run yesterday's program. */
async function checkBundle(): Promise<boolean> {
  const digests: Record<string, string> = JSON.parse(readFileSync(DIGESTS, "utf8"));
  const stale: string[] = [];
  for (const [file, digest] of Object.entries(digests)) {
    if ((await digestOf(file).catch(() => "")) !== digest) stale.push(file);
  }
  console.log(`${stale.length === 0 ? "ok  " : "FAIL"}          bundle is fresh`);
  if (stale.length > 0) console.log(`changed since: ${stale.join(", ")}\nrepeat it with: npm run bundle`);
  return stale.length === 0;
}

/** Every released form of the protos is a promise: journals and plugins of its time must still be understood. */
const BREAKING: readonly Step[] = readdirSync("proto/releases").map((image) => ({
  name: `proto breaking since ${image.replace(".binpb", "")}`,
  command: ["buf", "breaking", "--against", `proto/releases/${image}`],
}));

/** For who runs `npm test` right after it, where all of them run. */
const isWithoutTests = process.argv.includes("--no-tests");
if (isWithoutTests) console.log("left out: unit tests and tidy, which npm test runs");

let sound = await checkBundle();
for (const step of [...STEPS, ...BREAKING]) {
  if (isWithoutTests && step.command[0] === "vitest") continue;
  if (!sound) break;
  sound = run(step);
}
process.exit(sound ? 0 : 1);
