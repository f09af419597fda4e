import { expect, test } from "vitest";
import { type Leave, slotQueue } from "./slot-queue.ts";

/** Enters jobs that note their start and wait to be ended by name. */
function bench(slots: number) {
  const queue = slotQueue(slots);
  const started: string[] = [];
  const leaves = new Map<string, Leave>();
  return {
    queue,
    started,
    enter(owner: number, name: string) {
      queue.enter(owner, (leave) => {
        started.push(name);
        leaves.set(name, leave);
      });
    },
    end: (name: string) => leaves.get(name)?.(),
  };
}

test("so many run at one moment, and of one owner only one", () => {
  const { enter, started, end, queue } = bench(2);
  enter(1, "1a");
  enter(1, "1b");
  enter(2, "2a");
  enter(3, "3a");
  expect(started).toEqual(["1a", "2a"]);
  expect([queue.isRunning(1), queue.isRunning(3)]).toEqual([true, false]);
  end("2a");
  expect(started).toEqual(["1a", "2a", "3a"]);
  end("1a");
  expect(started).toEqual(["1a", "2a", "3a", "1b"]);
});

test("owners take turns, however many jobs one of them has", () => {
  const { enter, started, end } = bench(1);
  for (const name of ["1a", "1b", "1c", "1d"]) enter(1, name);
  for (const name of ["2a", "2b"]) enter(2, name);
  for (const name of ["1a", "1b", "2a", "1c", "2b", "1d"]) end(name);
  expect(started).toEqual(["1a", "1b", "2a", "1c", "2b", "1d"]);
});

test("a place given back twice is one place", () => {
  const { enter, started, end } = bench(1);
  for (const owner of [1, 2, 3]) enter(owner, `${owner}`);
  end("1");
  end("1");
  expect(started).toEqual(["1", "2"]);
});

test("jobs of an owner that was dropped are not run, and jobs that leave at once make room", () => {
  const { enter, started, end, queue } = bench(1);
  enter(1, "1");
  enter(2, "2");
  enter(3, "3");
  queue.drop(2);
  for (let owner = 10; owner < 2000; owner += 1) queue.enter(owner, (leave) => leave());
  enter(4, "4");
  end("1");
  end("3");
  expect(started).toEqual(["1", "3", "4"]);
});
