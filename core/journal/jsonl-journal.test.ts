import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { done, journalContract } from "../../tests/contracts/journal.ts";
import { openJournal } from "./jsonl-journal.ts";

journalContract("files of JSON lines", async () => {
  const dir = await mkdtemp(join(tmpdir(), "journal-"));
  let atMs = 1_700_000_000_000;
  const now = () => ++atMs;
  const journals = [done(await openJournal({ dir, now }))];
  const [journal] = journals;
  if (journal === undefined) throw new Error("no journal");
  return {
    journal,
    async reopen() {
      const again = done(await openJournal({ dir, now }));
      journals.push(again);
      return again;
    },
    async dispose() {
      for (const one of journals) await one.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
});
