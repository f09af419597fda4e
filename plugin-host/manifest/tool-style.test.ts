import { expect, test } from "vitest";
import { fullToolName, pluginToolStyle, type ToolStyle } from "./tool-style.ts";

const style = (prefix: string, ...longerPrefixes: readonly string[]): ToolStyle => ({
  ...pluginToolStyle("x"),
  prefix,
  longerPrefixes,
});

test("a name that models take stays as it is", () => {
  expect(fullToolName(style("mcp_a_b_"), "c")).toBe("mcp_a_b_c");
  expect(fullToolName(style("mcp_a_"), "get-sum")).toBe("mcp_a_get-sum");
});

test("odd and long names become ones that models take, each another", () => {
  const names = ["a b", "a_b", "a.b", "ä", "", "x".repeat(60), "x".repeat(61)].map((name) =>
    fullToolName(style("mcp_s_"), name),
  );
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^mcp_s_[A-Za-z0-9_-]{0,58}$/);
});

test("a server cannot take a name of another whose own begins with its name", () => {
  const shorter = style("mcp_a_", "mcp_a_b_");
  expect(fullToolName(shorter, "b_c")).not.toBe(fullToolName(style("mcp_a_b_"), "c"));
  expect(fullToolName(shorter, "c")).toBe("mcp_a_c");
});

test("a name that looks like a marked one is marked itself", () => {
  const marked = fullToolName(style("mcp_s_"), "a b");
  expect(fullToolName(style("mcp_s_"), marked.slice("mcp_s_".length))).not.toBe(marked);
});
