import { expect, test } from "vitest";
import { createTurns } from "./turns.ts";

test("so many run at once, and the others in the order of their coming", async () => {
  const turns = createTurns(1);
  const said: string[] = [];
  const first = Promise.withResolvers<void>();
  const runs = [
    turns.run(async () => {
      await first.promise;
      said.push("first");
    }),
    turns.run(async () => void said.push("second")),
  ];
  first.resolve();
  await Promise.all(runs);
  expect(said).toEqual(["first", "second"]);
});

test("who gives up while waiting takes nobody's turn away", async () => {
  const turns = createTurns(1);
  const first = Promise.withResolvers<void>();
  const running = turns.run(() => first.promise);
  const giveUp = new AbortController();
  const waiting = turns.run(async () => "never", giveUp.signal);
  giveUp.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  first.resolve();
  await running;
  expect(await turns.run(async () => "next")).toBe("next");
});

test("a turn whose work fails is given back", async () => {
  const turns = createTurns(1);
  await expect(turns.run(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await turns.run(async () => "next")).toBe("next");
});
