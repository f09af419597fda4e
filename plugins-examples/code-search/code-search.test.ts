import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bench, openBench } from "../../tests/kit/claw.ts";
import { BUILD_TIMEOUT_MS, buildGo, GO_ENV, goMissing } from "../../tests/kit/go-build.ts";

const folder = import.meta.dirname;
const TOOL = "plugin_code-search_grep";

describe.skipIf(goMissing !== undefined)("the code search in Go", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench();
    const program = await buildGo(folder);
    put("src/a.go", "package a\n\nfunc Find() {}\n");
    put("src/b.ts", "export function find() {}\n");
    put("out/a.go", "func Find() {}\n");
    put(".gitignore", "/out/\n");
    author("code-search", program, [{ permission: `read=${join(bench.workspace, "src")}`, reason: "searches" }]);
  }, BUILD_TIMEOUT_MS);
  afterAll(() => bench.close());

  const put = (name: string, data: string | Uint8Array) => {
    const path = join(bench.workspace, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, data);
  };
  const author = (to: string, program: Uint8Array, permissions: readonly object[]) => {
    const manifest = JSON.parse(readFileSync(join(folder, "plugin.json"), "utf8"));
    put(`${to}/plugin.json`, JSON.stringify({ ...manifest, permissions }));
    put(`${to}/code-search`, program);
    chmodSync(join(bench.workspace, to, "code-search"), 0o755);
  };
  const grep = async (args: object) =>
    (await bench.claw("say", `call ${TOOL} ${JSON.stringify(args)}`, "--allow", TOOL)).stdout;

  test("passes its own tests", { timeout: BUILD_TIMEOUT_MS }, () => {
    expect(execFileSync("go", ["test", "./..."], { cwd: folder, env: GO_ENV, encoding: "utf8" })).not.toContain("FAIL");
  });

  test("is installed, and answers in a conversation from what it was granted", async () => {
    expect(await bench.claw("plugin", "install", "code-search", "--yes")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("installed code-search"),
    });
    const said = await grep({ pattern: "find", ignoreCase: true, path: "src" });
    expect(said).toContain("src/a.go:3:func Find() {}");
    expect(said).toContain("src/b.ts:1:export function find() {}");
    expect(said).toContain("2 hits in 2 of 2 files");
  });

  test("refuses what is no expression, and arguments that its schema does not take", async () => {
    expect(await grep({ pattern: "(" })).toContain("the pattern is no regular expression");
    expect(await grep({ pattern: "x", limit: 100_000 })).toMatch(/limit/);
    expect(await grep({ pattern: "x", path: "../.." })).toContain("does not lie in the workspace");
  });

  test("says what to grant where it may read nothing", async () => {
    author("blind", await buildGo(folder), []);
    expect(await bench.claw("plugin", "install", "blind", "--yes")).toMatchObject({ code: 0 });
    expect(await grep({ pattern: "find" })).toContain(`${bench.workspace} may not be read`);
    const { stdout } = await bench.claw("say", `call ${TOOL} {"pattern": "find"}`, "--allow", TOOL, "--json");
    expect(stdout).toContain(`read=${bench.workspace}`);
  });
});
