import { fail, ok, type Result } from "../../domain/failure.ts";
import { type EvalFigures, SEARCH_MODES, type SearchMode } from "../../domain/memory.ts";
import { type EvalDocument, type EvalQuery, readDocuments, readQueries } from "./data-set.ts";
import { type Marks, markRanking } from "./metrics.ts";

const BATCH_DOCUMENTS = 8_192;
/** So deep is the first relevant document looked for. */
const DEPTH = 100;

/** An index aside, which is forgotten afterwards. */
export type EvalIndex = {
  /** Documents are numbered in the order in which they come, from 0. */
  add(documents: readonly EvalDocument[]): Promise<Result<void>>;
  /** Numbers of documents, best first. */
  ask(mode: SearchMode, text: string, limit: number): Promise<Result<readonly number[]>>;
};

/** Indexes a data set, asks all its queries in every mode, and yields the mean marks of each. A failure is the last item. */
export async function* evaluateDataSet(
  folder: string,
  index: EvalIndex,
  signal: AbortSignal,
): AsyncGenerator<Result<EvalFigures>> {
  const queries = await readQueries(folder);
  if (!queries.ok) return yield queries;
  const ids: string[] = [];
  for await (const batch of readDocuments(folder, BATCH_DOCUMENTS)) {
    if (!batch.ok) return yield batch;
    if (signal.aborted) return yield stopped(folder);
    const added = await index.add(batch.value);
    if (!added.ok) return yield added;
    for (const { id } of batch.value) ids.push(id);
  }
  for (const mode of SEARCH_MODES) {
    const figures = await askAll(mode, queries.value, ids, index, signal);
    yield figures === undefined ? stopped(folder) : figures;
    if (figures?.ok !== true) return;
  }
}

async function askAll(
  mode: SearchMode,
  queries: readonly EvalQuery[],
  ids: readonly string[],
  index: EvalIndex,
  signal: AbortSignal,
): Promise<Result<EvalFigures> | undefined> {
  const marks: Marks[] = [];
  for (const { text, judgements } of queries) {
    if (signal.aborted) return undefined;
    const ranking = await index.ask(mode, text, DEPTH);
    if (!ranking.ok) return ranking;
    marks.push(
      markRanking(
        ranking.value.map((number) => ids[number] ?? ""),
        judgements,
      ),
    );
  }
  const mean = (key: keyof Marks) => marks.reduce((sum, each) => sum + each[key], 0) / marks.length;
  return ok({
    mode,
    queries: queries.length,
    ndcgAt10: mean("ndcgAt10"),
    recallAt5: mean("recallAt5"),
    recallAt10: mean("recallAt10"),
    mrr: mean("reciprocalRank"),
  });
}

function stopped(folder: string) {
  return fail("cancelled", `the evaluation of ${folder} was stopped`, { hint: "start it again" });
}
