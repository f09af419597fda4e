import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Suites that take a minute or more, the longest first: what starts last decides when all is done. */
const LONG_SUITES = [
  "tests/crash.test.ts",
  "tests/hostile-plugin.test.ts",
  "tests/hostile-mcp/servers.test.ts",
  "tests/hostile-mcp/serve.test.ts",
  "tests/contract/contract.test.ts",
  "tests/escape.test.ts",
  "tests/mcp.test.ts",
  "tests/mcp-server-resources.test.ts",
  "tests/mcp-server.test.ts",
  "core/memory/index-kill.test.ts",
  "tests/hostile-memory/plugins.test.ts",
  "tests/hostile-memory/kill.test.ts",
  "tests/escape/without-sandbox.test.ts",
  "tests/denial/broker.test.ts",
  "tests/denial/crowds.test.ts",
  "tests/deno.test.ts",
  "tests/legacy/legacy.test.ts",
  "tests/denial.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONG_SUITES.findIndex((suite) => moduleId.endsWith(suite));
      return at < 0 ? LONG_SUITES.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["node_modules/**", "dist/**"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    globalSetup: ["tests/kit/make-run-folder.ts", "tests/kit/fetch-python.ts"],
    // More than cores: most tests wait for processes.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // A shared machine may take a child's deadline away. Before a landing such a test gets one more chance, and is named
    // in the output as retried; an author sees it fail.
    retry: process.env.CI === "true" ? 1 : 0,
  },
});
