/** The hook that the tour adds, shown as it is written to disk. */
export const GUARD_HOOK = `/** @hook at=tool.before priority=100 timeout=2s on-error=deny */
export default (event) => {
  const command = String(event.value.args.command ?? "");
  if (/\\brm\\s+-\\w*[rf]/.test(command)) return { block: "deleting for good is for people" };
};
`;

/** One row a call: what it did, how long it took, and what the hooks said to it. */
export const TOUR_QUERY = `select c.tool, left(c.args::varchar, 44) as args, c.status, round(c.ms, 1) as ms,
  coalesce(string_agg(h.hook || ' ' || h.verdict, ', '), '') as hooks
from calls c left join hooks h using (session, call_id) group by all order by min(c.time)`;

/** What a person may do after the tour, and why. */
export const NEXT_COMMANDS: readonly (readonly [string, string])[] = [
  ['npm start -- say "what is in README.md?"', "your own first message"],
  ["npm start -- doctor", "what this machine lacks, each with its mend"],
  ["npm start -- --help", "everything else"],
];
