import { expect, test } from "vitest";
import { startRunClock } from "./run-clock.ts";

const NOW = () => performance.now();

test("a run's time ends once, and not at all when it was stopped before", async () => {
  const over = Promise.withResolvers<void>();
  const clock = startRunClock(5, NOW, over.resolve);
  await over.promise;
  expect(clock.isOver).toBe(true);
  const stopped = startRunClock(5, NOW, () => expect.unreachable());
  stopped.stop();
  const later = Promise.withResolvers<void>();
  startRunClock(20, NOW, later.resolve);
  await later.promise;
  expect(stopped.isOver).toBe(false);
});

test("time stands still while anybody is asked, and goes on afterwards", async () => {
  const over = Promise.withResolvers<void>();
  const clock = startRunClock(5, NOW, over.resolve);
  const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const;
  const held = answers.map(({ promise }) => clock.hold(promise));
  answers[0].resolve("yes");
  const later = Promise.withResolvers<void>();
  startRunClock(30, NOW, later.resolve);
  await later.promise;
  expect(clock.isOver).toBe(false);
  answers[1].reject(new Error("gone"));
  await Promise.allSettled(held);
  await over.promise;
  expect(clock.isOver).toBe(true);
});
