import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ListToolsResponseSchema } from "../../proto/gen/clawd/v1/session_pb.ts";
import { ok } from "../trouble.ts";
import type { House } from "./house.ts";
import { describeTool, openOffer, readToolChoice, type ToolChoice } from "./offered-tools.ts";

const TOOLS = [
  { name: "read", category: "file_read", rerunSafe: true },
  { name: "shell", category: "shell", rerunSafe: false },
  { name: "plugin_a_b", category: "plugin", rerunSafe: false },
  { name: "mcp_files_read", category: "mcp", rerunSafe: false },
];

/** A daemon that has these tools and answers nothing else. */
const house: House = {
  read: async (method) => ok(create(method.output, create(ListToolsResponseSchema, { tools: TOOLS }) as never)),
  call: () => Promise.reject(new Error("nothing else is asked")),
  stream: () => {
    throw new Error("nothing else is asked");
  },
  isThere: () => Promise.reject(new Error("nothing else is asked")),
  close() {},
};

function choose(...written: readonly string[]): readonly ToolChoice[] {
  return written.map((one) => {
    const choice = readToolChoice(one);
    if (!choice.ok) throw new Error(choice.trouble.message);
    return choice.value;
  });
}

async function shown(...written: readonly string[]): Promise<readonly string[]> {
  const listed = await openOffer(house, "/work", choose(...written)).list();
  return listed.ok ? listed.value.map(({ shownAs }) => shownAs) : [];
}

test("without a choice all tools are offered but those of other servers", async () => {
  expect(await shown()).toEqual(["read", "shell", "plugin_a_b"]);
});

test("patterns match whole names, and each tool is offered once under each of its names", async () => {
  expect(await shown("re*", "read", "look=read")).toEqual(["read", "look"]);
  expect(await shown("*_read")).toEqual(["mcp_files_read"]);
  expect(await shown("*a*b*")).toEqual(["plugin_a_b"]);
  expect(await shown("rea", "*x*", "read*d")).toEqual([]);
});

test("what names no tool is refused", () => {
  for (const wrong of ["", "a b", "x=re*", "=read", "né=read", `${"x".repeat(65)}=read`, "a=b=c"]) {
    expect(readToolChoice(wrong), wrong).toMatchObject({ ok: false, trouble: { kind: "usage" } });
  }
});

test("a description says what a call may do, and its schema is one of an object", async () => {
  const listed = await openOffer(house, "/work", []).list();
  const [read, shell] = listed.ok ? listed.value.map(describeTool) : [];
  expect(read).toMatchObject({
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true, idempotentHint: true },
  });
  expect(shell).toMatchObject({ annotations: { readOnlyHint: false, idempotentHint: false, openWorldHint: true } });
});
