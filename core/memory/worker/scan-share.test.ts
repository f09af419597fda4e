import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { finishShare, helpWith, makeScanShare } from "./scan-share.ts";

const found = [
  { block: 1, row: 7, id: 2 ** 52 + 3, score: 0.25 },
  { block: 0, row: 2, id: 9, score: -0.5 },
];
const never = () => {
  throw new Error("the other thread has done it");
};

test("what one thread found the other one reads, number by number", () => {
  const share = makeScanShare(10);
  helpWith(share, () => found);
  expect(finishShare(share, never)).toEqual(found);
});

test("without help a search does all of it, and help that comes later does nothing", () => {
  const share = makeScanShare(10);
  expect(finishShare(share, () => found)).toBe(found);
  helpWith(share, never);
});

test("help that fails leaves the work to the search", () => {
  const share = makeScanShare(10);
  expect(() => helpWith(share, never)).toThrow("the other thread");
  expect(finishShare(share, () => found)).toBe(found);
});

test("more than there is room for is left out, the last first", () => {
  const share = makeScanShare(1);
  helpWith(share, () => found);
  expect(finishShare(share, never)).toEqual(found.slice(0, 1));
});

test("a thread that takes its half and never ends costs a search time, not the answer", async () => {
  const share = makeScanShare(10);
  const helper = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     const gate = new Int32Array(workerData.gate);
     import(workerData.module).then(({ helpWith }) => {
       helpWith(workerData.share, () => {
         parentPort.postMessage("taken");
         Atomics.wait(gate, 0, 0);
         return workerData.found;
       });
     });`,
    {
      eval: true,
      workerData: {
        share,
        found,
        gate: new SharedArrayBuffer(4),
        module: new URL("./scan-share.ts", import.meta.url).href,
      },
    },
  );
  try {
    await once(helper, "message");
    // Nobody opens the gate in time: what was taken and is not done is done twice, and the search answers.
    expect(finishShare(share, () => found)).toBe(found);
  } finally {
    await helper.terminate();
  }
});
