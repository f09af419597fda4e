import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const SOURCES = globSync("**/*.ts", {
  cwd: ROOT,
  // The scripts of tests/deno are strangers' programs: they follow no rule of the house.
  exclude: (path) => /(^|\/)(node_modules|dist|\.git|tests\/deno)($|\/)/.test(path),
}).sort();

/** Files that somebody starts by name; nobody needs to import them. */
const ENTRIES = new Set([
  "core/daemon/main.ts",
  "cli/main.ts",
  "sandbox/isolate/hook-host.ts",
  "sandbox/egress/forwarder.ts",
  "sandbox/guest/guest-prelude.ts",
  "sandbox/guest/types/hooks.d.ts",
  "sandbox/guest/url.ts",
  "sandbox/guest/url-domain.ts",
  "sandbox/guest/url-percent.ts",
  "sandbox/guest/jspm-core.d.ts",
  "sandbox/guest/whatwg-url.d.ts",
  "core/memory/worker/memory-worker.ts",
  "core/memory/sql/query-process.ts",
  "core/memory/source/pdf-process.ts",
  "plugin-host/mcp-bridge/bridge.ts",
  "plugin-host/sdk/plugin.ts",
  "plugin-host/agent/agent-main.ts",
  ".ci/bundle.ts",
  ".ci/check.ts",
  ".ci/picture.ts",
  ".ci/vitest.config.ts",
  "bench/main.ts",
  "bench/soak.ts",
  "bench/plugin-soak.ts",
  "tests/kit/fetch-python.ts",
  "tests/kit/make-run-folder.ts",
  "tests/hostile-mcp/mutate.ts",
  "tests/mcp-server/conformance-plugin/conformance.ts",
]);

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const found = text.matchAll(/(?:from\s+|import\s*\(?\s*)"(\.{1,2}\/[^"]+)"/g);
  return [...found].map((match) => normalize(join(dirname(file), match[1] ?? "")));
}

/** Imports that are there when the program runs: type-only ones make no cycle. */
function valueImportsOf(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const found = text.matchAll(/^(?:import|export)\s+(?!type\b)(?:([^;]*?)\s+from\s+)?"(\.{1,2}\/[^"]+)"/gms);
  return [...found]
    .filter(([, names]) => names === undefined || !/^\{(\s*type\s[^,}]*,?)*\s*\}$/s.test(names))
    .map((match) => normalize(join(dirname(file), match[2] ?? "")));
}

/** The table of docs/ARCHITECTURE.md: room → what it may import. */
const ROOMS = new Map(
  [...readFileSync(join(ROOT, "docs/ARCHITECTURE.md"), "utf8").matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map((row) => {
    const [, room = "", allowed = ""] = row;
    return [
      room,
      allowed === "everything" ? ("everything" as const) : [...allowed.matchAll(/`([^`]+)`/g)].map((m) => m[1]),
    ];
  }),
);

function roomOf(file: string): string | undefined {
  const rooms = [...ROOMS.keys()].filter((room) => file.startsWith(`${room}/`));
  return rooms.sort((a, b) => b.length - a.length)[0];
}

const isTest = (file: string) => file.endsWith(".test.ts") || file.includes("/fixtures/");

test("every source file lies in a room of the architecture", () => {
  expect(ROOMS.size).toBeGreaterThan(10);
  expect(SOURCES.filter((file) => roomOf(file) === undefined)).toEqual([]);
});

test("every import follows the arrows of the architecture", () => {
  const wrong: string[] = [];
  for (const file of SOURCES.filter((source) => !isTest(source))) {
    const room = roomOf(file) ?? "";
    const allowed = ROOMS.get(room);
    if (allowed === "everything") continue;
    for (const target of importsOf(file)) {
      const targetRoom = roomOf(target);
      if (targetRoom !== room && !allowed?.includes(targetRoom ?? "")) wrong.push(`${file} imports ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("the pure rooms import nothing of Node", () => {
  const pure = SOURCES.filter((file) => /^(core\/domain|sandbox\/permission)\//.test(file) && !isTest(file));
  expect(pure.length).toBeGreaterThan(10);
  expect(pure.filter((file) => /from "node:/.test(readFileSync(join(ROOT, file), "utf8")))).toEqual([]);
});

test("the clock, chance and the environment are read in entry files only", () => {
  const readers = /\bDate\.now\(|\bMath\.random\(|\brandomUUID\(|\bprocess\.env\b|new Date\(\)/;
  const rooms = /^(core\/(?!daemon)|plugin-host\/(?!sdk)|sandbox\/)/;
  const wrong = SOURCES.filter((file) => rooms.test(file) && !isTest(file) && !ENTRIES.has(file)).filter((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .some((line) => !/^\s*(\/\/|\*|\/\*)/.test(line) && readers.test(line)),
  );
  expect(wrong).toEqual([]);
});

test("no file imports itself in a circle", () => {
  const graph = new Map(SOURCES.map((file) => [file, valueImportsOf(file)]));
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (file: string, path: readonly string[]) => {
    const seenAt = path.indexOf(file);
    if (seenAt >= 0) return void circles.push([...path.slice(seenAt), file].join(" → "));
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of SOURCES) walk(file, []);
  expect(circles).toEqual([]);
});

test("every file is imported by another, is an entry, or is a test", () => {
  const imported = new Set(SOURCES.flatMap(importsOf));
  const examples = /^plugins-examples\/[^/]+\/[^/]+\.ts$/;
  const orphans = SOURCES.filter(
    (file) =>
      !imported.has(file) &&
      !ENTRIES.has(file) &&
      !isTest(file) &&
      !examples.test(file) &&
      !file.startsWith("proto/gen/"),
  );
  expect(orphans).toEqual([]);
});

test("nothing is left for later in the code", () => {
  const marks = new RegExp(`(//|\\*).*\\b(${["TO", "DO|FIX", "ME|XX", "X"].join("")})\\b`);
  const left = SOURCES.filter((file) => !file.startsWith("proto/gen/")).filter((file) =>
    marks.test(readFileSync(join(ROOT, file), "utf8")),
  );
  expect(left).toEqual([]);
});

test("the changelog lists what is unreleased first", () => {
  const text = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  expect(text).toMatch(/^# Changelog\n/);
  expect([...text.matchAll(/^## (.+)$/gm)][0]?.[1]).toBe("Unreleased");
});

test("the tests run on the Node version that the package pins", () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(process.version).toBe(`v${dependencies.node}`);
});
