import { expect, test } from "vitest";
import { waitFor } from "./wait.ts";

test("what nobody waits for may fail: an aborted wait leaves no rejection without a handler", async () => {
  const unheard: unknown[] = [];
  const hear = (cause: unknown) => unheard.push(cause);
  process.on("unhandledRejection", hear);
  try {
    expect(await waitFor(Promise.reject(new Error("lost")), 1000, AbortSignal.abort())).toEqual({ came: "abort" });
    // Node tells of them when the microtasks are done.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unheard).toEqual([]);
  } finally {
    process.off("unhandledRejection", hear);
  }
});

test("a rejection that comes in time is passed on", async () => {
  await expect(waitFor(Promise.reject(new Error("heard")), 1000)).rejects.toThrow("heard");
});
