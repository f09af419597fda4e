import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closeLab, type Lab, NOTHING_LEFT, openLab } from "../../plugin-host/fixtures/plugin-lab.ts";
import { findPythonHome, SDK_FOLDER, vendorInto } from "../../tests/kit/python-home.ts";

const folder = import.meta.dirname;
const home = findPythonHome(process.env);
if (!home.ready) console.warn(`skipped: the embedder in Python: ${home.missing}`);

describe.skipIf(!home.ready)("the embedder in Python", () => {
  let lab: Lab;
  let author: string;
  beforeAll(async () => {
    author = mkdtempSync(join(tmpdir(), "ngram-"));
    cpSync(folder, author, { recursive: true });
    if (home.ready) vendorInto(author, home.packages);
    lab = await openLab();
    expect(await lab.host.admin.install(author, true)).toMatchObject({ ok: true });
  });
  afterAll(async () => {
    expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
    rmSync(author, { recursive: true, force: true });
  });

  const embed = async (id: string, ...texts: string[]) => {
    const found = lab.host.embedders().find(({ embedder }) => embedder.id === id);
    if (found === undefined) throw new Error(`there is no embedder ${id}`);
    return found.embedder.embed(texts, "document", new AbortController().signal);
  };
  const near = (left?: Float32Array, right?: Float32Array) =>
    Array.from(left ?? []).reduce((sum, value, at) => sum + value * (right?.[at] ?? 0), 0);

  test("texts that share parts of words are nearer to each other than texts that share none", async () => {
    const vectors = await embed("ngram-512-v1", "fish in the lake", "fishing at a lake", "money from your bank");
    if (!vectors.ok) throw new Error(vectors.failure.message);
    const [fish, fishing, bank] = vectors.value;
    expect(fish).toHaveLength(512);
    expect(near(fish, fishing)).toBeGreaterThan(near(fish, bank) + 0.2);
    expect(near(fish, fish)).toBeCloseTo(1);
  });

  test("where there is no model it says so, and the other embedder goes on", async () => {
    expect(await embed("sentence-384-v1", "fish")).toMatchObject({
      ok: false,
      failure: { message: expect.stringContaining("model_folder of [plugins.ngram-embedder] names no model") },
    });
    expect(await embed("ngram-512-v1", "fish")).toMatchObject({ ok: true });
  });

  test("passes its own tests", () => {
    if (!home.ready) return;
    const path = [...home.packages, SDK_FOLDER].join(":");
    const { status, stdout, stderr } = spawnSync(
      home.python,
      ["-m", "pytest", "-q", "-p", "no:cacheprovider", folder],
      {
        env: { PATH: "/usr/bin:/bin", PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: "1", LANG: "C.UTF-8" },
        encoding: "utf8",
      },
    );
    expect({ status, said: stdout + stderr }).toMatchObject({ status: 0, said: expect.stringContaining("passed") });
  });
});
