/** Whether whole tables of cases are run; otherwise `npm test` runs a share of the large ones. */
export const THOROUGH = process.env.CLAWD_THOROUGH === "1";

/** Whether tests may fetch and build what plugins in other languages need, which takes minutes the first time. */
export const MAY_FETCH_LANGUAGES = THOROUGH || process.env.CI !== undefined || process.env.CLAWD_TEST_LANGUAGES === "1";
export const FETCH_HINT = "CLAWD_TEST_LANGUAGES=1 lets the tests fetch and build what it needs";

export type Share<Row> = {
  /** Of each kind the first row is run, and then one in so many. */
  readonly oneIn: number;
  /** What a row is an instance of: of every kind at least one row is run. All are of one kind unless told otherwise. */
  readonly kindOf?: (row: Row) => string;
  /** Where to begin in each kind, so that two suites over one table try different rows of it. */
  readonly offset?: number;
};

/**
 * The rows that this run tries, in their order: all where CLAWD_THOROUGH=1, otherwise a share that is the same in every
 * run. What is left out is counted on the console.
 * @param what the rows, as in "120 of 160 …"
 */
export function shareOf<Row>(what: string, rows: readonly Row[], share: Share<Row>): readonly Row[] {
  if (THOROUGH) return rows;
  const { oneIn, kindOf = () => "", offset = 0 } = share;
  const kinds = Map.groupBy(rows, kindOf);
  const chosen = new Set<Row>();
  for (const ofKind of kinds.values()) {
    for (let at = offset % Math.min(oneIn, ofKind.length); at < ofKind.length; at += oneIn) {
      const row = ofKind[at];
      if (row !== undefined) chosen.add(row);
    }
  }
  tellLeft(rows.length - chosen.size, rows.length, what);
  return rows.filter((row) => chosen.has(row));
}

/** How often something is repeated in this run: `whole` times where CLAWD_THOROUGH=1, otherwise `share` times. */
export function timesOf(what: string, { whole, share }: { readonly whole: number; readonly share: number }): number {
  if (THOROUGH) return whole;
  tellLeft(whole - share, whole, what);
  return share;
}

function tellLeft(left: number, all: number, what: string): void {
  if (left > 0) console.info(`left to CLAWD_THOROUGH=1: ${left} of ${all} ${what}`);
}
