import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["node_modules/**", "dist/**"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // More than cores: most tests wait for processes.
    maxWorkers: 4,
    // A shared machine may take a child's deadline away. Before a landing such a test gets one more chance, and is named
    // in the output as retried; an author sees it fail.
    retry: process.env.CI === "true" ? 1 : 0,
  },
});
