import { expect, test } from "vitest";
import { oneByOne } from "./one-by-one.ts";

test("work begins when what was asked for before it has ended, and each caller gets its own result", async () => {
  const inTurn = oneByOne();
  const first = Promise.withResolvers<string>();
  const begun: string[] = [];
  const results = [
    inTurn(() => {
      begun.push("first");
      return first.promise;
    }),
    inTurn(async () => {
      begun.push("second");
      return "two";
    }),
  ];
  await Promise.resolve();
  expect(begun).toEqual(["first"]);
  first.resolve("one");
  expect(await Promise.all(results)).toEqual(["one", "two"]);
  expect(begun).toEqual(["first", "second"]);
});

test("work that fails fails its own caller only, also when it throws before it is a promise", async () => {
  const inTurn = oneByOne();
  const failed = inTurn(() => Promise.reject(new Error("rejected")));
  const thrown = inTurn(() => {
    throw new Error("thrown");
  });
  const fine = inTurn(async () => "fine");
  await expect(failed).rejects.toThrow("rejected");
  await expect(thrown).rejects.toThrow("thrown");
  expect(await fine).toBe("fine");
});
