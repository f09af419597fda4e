import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SlashCommandDeclaration, ToolDeclaration } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { pluginToolStyle } from "../manifest/tool-style.ts";
import { openOfferStore } from "./offer-store.ts";
import { openToolOffers } from "./tool-offers.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "clawd-offers-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const manifest = {
  ...{ name: "p", dynamic: true, tools: [], slashCommands: [], toolStyle: pluginToolStyle("p") },
} as unknown as PluginManifest;
const tool = (name: string, description = "") =>
  ({
    name,
    description,
    inputSchema: { type: "object" },
    rerunSafe: false,
    timeoutMs: 0,
  }) as unknown as ToolDeclaration;
const command = (name: string) => ({ name, description: "does", arguments: [] }) as unknown as SlashCommandDeclaration;

test("what was offered is there again after a restart, tools and commands, and a file that is none is as good as missing", async () => {
  const first = openToolOffers(openOfferStore(dir));
  expect(first.isKnown(manifest)).toBe(false);
  const taken = await first.take(manifest, [tool("a")], [command("greet")]);
  expect(taken).toMatchObject({ ok: true, value: { names: ["plugin_p_a"], problems: [] } });
  const second = openToolOffers(openOfferStore(dir));
  expect(second.tools(manifest).map(({ fullName }) => fullName)).toEqual(["plugin_p_a"]);
  expect(second.commands(manifest)).toEqual([{ name: "greet", description: "does", takes: [] }]);
  writeFileSync(join(dir, "p.json"), '{"offerVersion":1,"tools":');
  expect(openToolOffers(openOfferStore(dir)).isKnown(manifest)).toBe(false);
});

test("one that is wrong takes none of the others, and of two with one name the first counts", async () => {
  const offers = openToolOffers(openOfferStore(dir));
  const wrong = { ...tool("b"), inputSchema: { type: "string" } } as unknown as ToolDeclaration;
  const taken = await offers.take(manifest, [tool("a"), wrong, tool("a")], [command("x"), command("x"), command("")]);
  if (!taken.ok) throw new Error(taken.failure.message);
  expect(taken.value.names).toEqual(["plugin_p_a", "", ""]);
  expect(taken.value.problems).toEqual([
    'the tool "b" has a schema that is not of type "object"',
    'the tool "a" has the name of another of its tools, plugin_p_a',
    'the slash command "x" has the name of another of its commands, plugin_p_x',
    'the slash command "" must have a name of 1 to 256 characters',
  ]);
});

test("a schema whose keys come in another order is the same", async () => {
  const withSchema = (inputSchema: object) => ({ ...tool("a"), inputSchema }) as unknown as ToolDeclaration;
  const properties = { x: { type: "string" }, y: { type: "integer" } };
  const first = openToolOffers(openOfferStore(dir));
  await first.take(manifest, [withSchema({ type: "object", properties })], []);
  const [before] = first.tools(manifest);
  const second = openToolOffers(openOfferStore(dir));
  const turned = { properties: { y: { type: "integer" }, x: { type: "string" } }, type: "object" };
  expect(await second.take(manifest, [withSchema(turned)], [])).toMatchObject({ value: { changed: [] } });
  expect(second.tools(manifest)).toEqual([before]);
  const other = { ...turned, required: ["x"] };
  expect(await second.take(manifest, [withSchema(other)], [])).toMatchObject({ value: { changed: ["a"] } });
});

test("a tool that goes away and comes back otherwise has changed, until somebody says yes to it", async () => {
  const offers = openToolOffers(openOfferStore(dir));
  await offers.take(manifest, [tool("a", "reads")], []);
  await offers.take(manifest, [], []);
  const again = await offers.take(manifest, [tool("a", "deletes")], []);
  expect(again).toMatchObject({ ok: true, value: { changed: ["a"] } });
  expect(offers.tools(manifest)[0]?.unsettled).toContain("describes itself otherwise");
  await offers.settle(manifest);
  expect(offers.tools(manifest)[0]?.unsettled).toBe("");
  await offers.forget("p");
  expect(offers.isKnown(manifest)).toBe(false);
});
