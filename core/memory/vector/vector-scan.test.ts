import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, describe, expect, test } from "vitest";
import { makeVectors, plainCosine, randomNumbers } from "./fixtures/vectors.ts";
import { KERNEL_VARIANTS, type KernelHouse, openKernelHouse } from "./kernel.ts";
import { buildVectorBlock } from "./vector-block.ts";
import { loadVectorBlock, writeVectorFile } from "./vector-file.ts";
import { mergeFound, type ScanPart, scanBlocks, splitScan } from "./vector-scan.ts";

const folder = mkdtempSync(join(tmpdir(), "clawd-vectors-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Vectors = readonly (Float32Array | undefined)[];

function partOf(vectors: Vectors, more: { readonly exact?: boolean; readonly firstId?: number } = {}): ScanPart {
  const dimensions = vectors.find((vector) => vector !== undefined)?.length ?? 4;
  return {
    block: buildVectorBlock(dimensions, vectors, more.exact ?? true),
    mask: new Uint8Array(vectors.length).fill(1),
    ids: vectors.map((_, row) => (more.firstId ?? 0) + row),
  };
}

/** The ids that a plain loop over all rows in 64-bit floats gives. */
function plainBest(vectors: Vectors, query: Float32Array, limit: number, allowed = (_row: number) => true): number[] {
  return vectors
    .flatMap((vector, id) => (vector === undefined || !allowed(id) ? [] : [{ id, score: plainCosine(vector, query) }]))
    .sort((a, b) => b.score - a.score || a.id - b.id)
    .slice(0, limit)
    .map(({ id }) => id);
}

function idsOf(found: readonly { readonly id: number }[]): number[] {
  return found.map(({ id }) => id);
}

/** Which share of the rows that the plain loop finds the scan finds too, over some queries. */
function recallOver(queries: readonly Float32Array[], parts: readonly ScanPart[], vectors: Vectors): number {
  let [shared, wanted] = [0, 0];
  for (const query of queries) {
    const plain = new Set(plainBest(vectors, query, 10));
    shared += idsOf(scanBlocks(parts, query, 10)).filter((id) => plain.has(id)).length;
    wanted += plain.size;
  }
  return shared / wanted;
}

describe("beside a plain loop in 64-bit floats", () => {
  test.each([
    ["random", 384, 0],
    ["clustered", 384, 40],
    ["random", 1536, 0],
    ["clustered", 1536, 40],
  ])("%s vectors of %i dimensions: all of the ten best are found", (_kind, dimensions, clusters) => {
    const count = 1200;
    const vectors = makeVectors(7, count, dimensions, clusters);
    const queries = makeVectors(8, 12, dimensions, 0).map((noise, index) =>
      noise.map((number, at) => number * 0.3 + (vectors[index * 97]?.[at] ?? 0)),
    );
    expect(recallOver(queries, [partOf(vectors)], vectors)).toBeGreaterThanOrEqual(0.999);
  });

  test.each([1, 3, 16, 17, 384, 1000, 3072])(
    "vectors of %i dimensions have the scores of their cosines",
    (dimensions) => {
      const vectors = makeVectors(dimensions, 101, dimensions, 0);
      const query = vectors[42] ?? new Float32Array();
      const found = scanBlocks([partOf(vectors)], query, 101);
      expect(found).toHaveLength(101);
      for (const { row, score } of found)
        expect(score).toBeCloseTo(plainCosine(vectors[row] ?? new Float32Array(), query), 5);
      if (dimensions > 1) expect(idsOf(found)).toEqual(plainBest(vectors, query, 101));
    },
  );

  test("bytes alone come close, and give the same scores with either kernel", () => {
    const vectors = makeVectors(3, 2000, 200, 20);
    const part = partOf(vectors, { exact: false });
    const outcomes = KERNEL_VARIANTS.map((variant) =>
      scanBlocks([part], vectors[5] ?? new Float32Array(), 50, openKernelHouse(variant)),
    );
    expect(outcomes[0]).toEqual(outcomes[1]);
    for (const { row, score } of outcomes[0] ?? [])
      expect(score).toBeCloseTo(plainCosine(vectors[row] ?? new Float32Array(), vectors[5] ?? new Float32Array()), 1);
  });

  test("many blocks of any size answer as one, and know their rows", () => {
    const vectors = makeVectors(11, 2500, 64, 10);
    const sizes = [0, 1, 2, 3, 5, 700, 1111, 678];
    let start = 0;
    const parts = sizes
      .map((size) => {
        const part = partOf(vectors.slice(start, start + size), { firstId: start });
        start += size;
        return part;
      })
      .map((part) => (part.block.rows === 0 ? { ...part, block: buildVectorBlock(64, [], true) } : part));
    expect(start).toBe(vectors.length);
    for (const query of makeVectors(12, 10, 64, 0)) {
      const found = scanBlocks(parts, query, 25);
      expect(idsOf(found)).toEqual(plainBest(vectors, query, 25));
      for (const { block, row, id } of found) expect(parts[block]?.ids[row]).toBe(id);
    }
  });

  test("more rows than a scan takes at once, cut anywhere, give the same as whole", () => {
    const vectors = makeVectors(13, 34_000, 8, 0);
    const part = partOf(vectors);
    const query = vectors[33_999] ?? new Float32Array();
    const whole = scanBlocks([part], query, 30);
    expect(idsOf(whole)).toEqual(plainBest(vectors, query, 30));
    for (const cut of [1, 2, 3, 16_383, 16_385, 33_333]) {
      const halves = [
        { ...part, to: cut },
        { ...part, from: cut },
      ].map((half) => scanBlocks([half], query, 30));
      expect(mergeFound(halves, 30)).toEqual(whole);
    }
  });
});

describe("masks", () => {
  const vectors = makeVectors(17, 5000, 48, 10);
  const part = partOf(vectors);

  test.each([0.5, 0.01, 0.0006])("with %d of the rows allowed, the best of exactly those are found", (share) => {
    const random = randomNumbers(5);
    const mask = Uint8Array.from({ length: vectors.length }, () => (random() < share ? 1 : 0));
    for (const query of makeVectors(18, 10, 48, 0)) {
      const found = scanBlocks([{ ...part, mask }], query, 20);
      expect(idsOf(found)).toEqual(plainBest(vectors, query, 20, (row) => mask[row] === 1));
    }
  });

  test("no row is found when none is allowed, nor beyond the end of a short mask", () => {
    const query = vectors[0] ?? new Float32Array();
    expect(scanBlocks([{ ...part, mask: new Uint8Array(vectors.length) }], query, 20)).toEqual([]);
    const short = scanBlocks([{ ...part, mask: new Uint8Array(7).fill(1) }], query, 20);
    expect(idsOf(short).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});

describe("vectors that are none", () => {
  const good = Float32Array.of(1, 2, 3);
  const zero = new Float32Array(3);

  test("zero vectors and such that are not finite have the score 0, those of another size are not there", () => {
    const vectors = [
      good,
      zero,
      Float32Array.of(Number.NaN, 1, 1),
      Float32Array.of(Number.POSITIVE_INFINITY, 1, 1),
      Float32Array.of(1, 2),
      undefined,
      Float32Array.of(-1, -2, -3),
    ];
    const part = partOf(vectors);
    expect(part.block).toMatchObject({ rows: 7, present: 5, misfits: 1 });
    const found = scanBlocks([part], good, 10);
    expect(idsOf(found)).toEqual([0, 1, 2, 3, 6]);
    expect(found.map(({ score }) => Math.round(score * 1e6) / 1e6)).toEqual([1, 0, 0, 0, -1]);
  });

  test("a query without direction or of another size finds nothing", () => {
    const part = partOf([good, good]);
    for (const query of [zero, Float32Array.of(Number.NaN, 0, 0), Float32Array.of(1), new Float32Array(20_000).fill(1)])
      expect(scanBlocks([part], query, 10)).toEqual([]);
  });

  test("no blocks, a block of no rows and a limit of none find nothing", () => {
    expect(scanBlocks([], good, 10)).toEqual([]);
    expect(scanBlocks([{ ...partOf([]), block: buildVectorBlock(3, [], true) }], good, 10)).toEqual([]);
    expect(scanBlocks([partOf([good])], good, 0)).toEqual([]);
  });

  test("dimensions that no vector has are a broken promise", () => {
    for (const dimensions of [0, -1, 1.5, 16_385])
      expect(() => buildVectorBlock(dimensions, [], false)).toThrow(RangeError);
  });
});

describe("signs choose rows where there are very many", () => {
  const dimensions = 1024;
  const vectors = makeVectors(41, 4000, dimensions, 40);
  const queries = makeVectors(42, 10, dimensions, 0).map((noise, index) =>
    noise.map((number, at) => number * 0.3 + (vectors[index * 97]?.[at] ?? 0)),
  );
  const part = partOf(vectors);
  const bySigns = (parts: readonly ScanPart[], query: Float32Array) =>
    idsOf(scanBlocks(parts, query, 10, openKernelHouse(), 1));

  test("a large block has measured how few of its rows must be looked at, and its file knows it", () => {
    expect(part.block.nearShare).toBeGreaterThan(0);
    expect(part.block.nearShare).toBeLessThan(1 / 8);
    const file = join(folder, "signs.vec");
    writeVectorFile(file, part.block);
    const block = loadVectorBlock(file);
    if (block === undefined) throw new Error("the file was not loaded");
    expect(block.nearShare).toBe(part.block.nearShare);
    for (const query of queries) expect(bySigns([{ ...part, block, file }], query)).toEqual(bySigns([part], query));
    expect(partOf(vectors.slice(0, 100)).block.nearShare).toBe(0);
  });

  test("nearly all of the ten best are found, and none that may not be", () => {
    let shared = 0;
    for (const query of queries) {
      const exact = new Set(plainBest(vectors, query, 10));
      shared += bySigns([part], query).filter((id) => exact.has(id)).length;
      const mask = Uint8Array.from(vectors, (_, row) => row % 2);
      const odd = bySigns([{ ...part, mask }], query);
      expect(odd).toHaveLength(10);
      expect(odd.every((id) => id % 2 === 1)).toBe(true);
    }
    expect(shared / queries.length / 10).toBeGreaterThanOrEqual(0.98);
  });

  test("small blocks beside it are looked at whole, and a cut one within its bounds", () => {
    const [query = new Float32Array()] = queries;
    const near = { ...partOf([query]), ids: [9999] };
    expect(bySigns([part, near], query)[0]).toBe(9999);
    const cut = bySigns([{ ...part, from: 1000, to: 3000 }], query);
    expect(cut.every((id) => id >= 1000 && id < 3000)).toBe(true);
  });
});

test("equal rows stand by their ids, whatever block they are in", () => {
  const same = Array.from({ length: 3000 }, () => Float32Array.of(1, 1, 0, 0));
  const later = partOf(same, { firstId: 10_000 });
  const earlier = partOf(same, { firstId: 500 });
  const down = { ...partOf(same), ids: same.map((_, row) => 9000 - row) };
  const found = scanBlocks([later, earlier, down], Float32Array.of(1, 0, 0, 0), 5);
  expect(idsOf(found)).toEqual([500, 501, 502, 503, 504]);
});

test("floats are read from their file; without it bytes decide", () => {
  const vectors = makeVectors(23, 1200, 96, 10);
  const query = vectors[7] ?? new Float32Array();
  const file = join(folder, "rescored.vec");
  const built = partOf(vectors);
  expect(writeVectorFile(file, built.block)).toEqual({ ok: true, value: undefined });
  const block = loadVectorBlock(file);
  if (block === undefined) throw new Error("the file was not loaded");
  expect(block.exactInMemory).toBe(false);
  const inMemory = scanBlocks([built], query, 30);
  expect(scanBlocks([{ ...built, block, file }], query, 30)).toEqual(inMemory);
  const bytesOnly = scanBlocks([{ ...built, block, file: join(folder, "gone.vec") }], query, 30);
  expect(bytesOnly).toEqual(scanBlocks([{ ...built, block }], query, 30));
  expect(bytesOnly).not.toEqual(inMemory);
  expect(idsOf(bytesOnly)[0]).toBe(7);
});

test("a split scan shares the work about evenly, and merged it is the whole one", () => {
  // Ten of each: what ties must be told apart by id on both ways.
  const few = makeVectors(29, 900, 1000, 10);
  const vectors = Array.from({ length: 10 }, () => few).flat();
  const parts = [
    partOf(vectors.slice(0, 5000)),
    partOf(vectors.slice(5000, 5001), { firstId: 5000 }),
    partOf(vectors.slice(5001), { firstId: 5001 }),
  ];
  const query = vectors[3] ?? new Float32Array();
  expect(splitScan(parts, 1)).toEqual([parts]);
  expect(splitScan(parts.slice(1, 2), 4)).toHaveLength(1);
  for (const threads of [2, 3]) {
    const split = splitScan(parts, threads);
    for (const own of split) {
      const rows = own.reduce((sum, { from = 0, to = 0 }) => sum + to - from, 0);
      expect(Math.abs(rows - 9000 / threads)).toBeLessThan(4);
    }
    const outcomes = split.map((own) => scanBlocks(own, query, 20));
    expect(mergeFound(outcomes, 20)).toEqual(scanBlocks(parts, query, 20));
  }
});

test("two threads scan one block at once, and each finds what is right for its own query", async () => {
  const vectors = makeVectors(31, 6000, 128, 10);
  const part = partOf(vectors);
  const queries = makeVectors(32, 2, 128, 0);
  const threads = queries.map(
    (query) =>
      new Promise<string[]>((resolve, reject) => {
        const thread = new Worker(join(import.meta.dirname, "fixtures/scanning-thread.ts"), {
          workerData: { parts: [part], query, limit: 10, times: 200 },
        });
        thread.once("message", resolve);
        thread.once("error", reject);
      }),
  );
  const told = await Promise.all(threads);
  for (const [index, query] of queries.entries()) {
    const expected: KernelHouse = openKernelHouse();
    expect(told[index]).toEqual([JSON.stringify(scanBlocks([part], query, 10, expected))]);
  }
});
