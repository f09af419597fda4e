import { expect, test } from "vitest";
import type { Tool } from "../../domain/tool.ts";
import { schemaCheck } from "./schema-check.ts";

const tool: Tool = {
  ...{ name: "search", description: "", aliases: [], category: "memory_read", rerun: "safe", timeoutMs: 1 },
  input: {
    type: "object",
    properties: { query: { type: "string" }, limit: { type: "integer" } },
    required: ["query"],
    additionalProperties: false,
  },
  needs: () => [],
  run: async () => ({ status: "done", output: "" }),
};

test("a field that is missing is named", () => {
  const check = schemaCheck();
  expect(check(tool, { query: "x" })).toBeUndefined();
  expect(check(tool, {})?.message).toContain("Missing required field 'query'");
  expect(check(tool, { query: "x", limit: "3" })?.message).toContain("at limit");
  expect(check(tool, { query: "x", other: 1 })?.message).toContain(
    "do not fit its schema at other: there is no such field",
  );
});
