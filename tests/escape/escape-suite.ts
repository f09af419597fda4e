import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shareOf } from "../kit/thoroughness.ts";
import { type Examiner, openExaminer } from "./attempt.ts";
import { CASES } from "./cases.ts";
import { AREAS, type Area, type EscapeCase } from "./escape-case.ts";
import { type EscapeHouse, openEscapeHouse } from "./escape-house.ts";

/** Growth of this process over all attempts together, MiB: an attempt for itself may leave half of it. */
const GROWTH_MIB = 300;

type Numbered = { readonly area: Area; readonly index: number; readonly tried: EscapeCase };

/** What is tried at a level. Each level has a share of its own, so that a run without all of them tries half of all. */
function chosenFor(wanted: "auto" | "none"): readonly Numbered[] {
  const all = AREAS.flatMap((area) => CASES[area].map((tried, index) => ({ area, index, tried })));
  // Without the wall there is nothing to prove; that the wall is missing where it was wanted is said below.
  const proving = all.filter(({ tried }) => wanted === "auto" || tried.onlyAt !== "bubblewrap");
  const kindOf = ({ area, tried }: Numbered) => `${area}, ${tried.rig ?? "guest"}`;
  const share = { oneIn: 4, kindOf, offset: wanted === "auto" ? 0 : 2 };
  return shareOf(`ways out of the sandbox at level ${wanted}`, proving, share);
}

/** Attempts, one after the other, in one house. */
export function escapeSuite(wanted: "auto" | "none"): void {
  const chosen = chosenFor(wanted);
  let house: EscapeHouse;
  let examiner: Examiner;
  let startRssBytes = 0;
  beforeAll(async () => {
    house = await openEscapeHouse({ wanted, cases: CASES });
    examiner = openExaminer(house);
    startRssBytes = process.memoryUsage.rss();
    if (wanted === "auto" && house.launcher.level === "none")
      console.info(`no bubblewrap here: ${house.launcher.detail}`);
  });
  afterAll(async () => {
    examiner.end();
    expect(await house.close()).toEqual([]);
  });

  for (const area of AREAS) {
    describe(area, () => {
      for (const { index, tried } of chosen.filter((one) => one.area === area)) {
        test(`code that ${tried.name} gets nowhere`, async ({ skip }) => {
          const { level } = house.launcher;
          if (tried.onlyAt && tried.onlyAt !== level) skip(`at level ${level} nothing stands in its way`);
          const broken = await examiner.examine(area, index, tried);
          if (broken.length > 0) expect.fail(broken.join("\n"));
        });
      }
    });
  }

  test("all attempts together have left this process much as it was", () => {
    const grownMib = (process.memoryUsage.rss() - startRssBytes) / 1024 / 1024;
    expect(grownMib).toBeLessThan(GROWTH_MIB);
  });
}
