// flags:
import assert, { deepStrictEqual, rejects, throws } from "node:assert";
assert(true);
assert.equal(1, 1);
deepStrictEqual({ a: [1, new Map([[1, 2]])] }, { a: [1, new Map([[1, 2]])] });
throws(() => { throw new TypeError("x"); }, TypeError);
await rejects(Promise.reject(new Error("y")));
for (const wrong of [() => assert.strictEqual(1, 2), () => assert.ok(0, "not ok"), () => assert.notEqual(1, 1), () => deepStrictEqual([1], [2])])
  try {
    wrong();
  } catch (error) {
    console.log((error as Error).name, (error as { code?: string }).code, error instanceof assert.AssertionError);
  }
