import type { AuditedJournal, JournalAudit } from "../domain/admin.ts";
import { fail, type Result } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";

/** What stands before the ids of journals that lie in the folder of vector indices. */
const VECTORS = "vectors/";

/** @param vectors the journals of vector indices; undefined when there are none, which is not a reason to make their folder. */
export function journalAudit(sessions: Journal, vectors: () => Promise<Result<Journal> | undefined>): JournalAudit {
  /** One after the other: there may be more of them than files can be open. */
  async function verifyAll(journal: Journal, prefix: string): Promise<AuditedJournal[]> {
    const audited: AuditedJournal[] = [];
    for await (const { sessionId: id } of journal.heads()) {
      audited.push({ name: `${prefix}${id}`, chain: await journal.verify(id) });
    }
    return audited;
  }

  async function verifyVectors(name: string): Promise<AuditedJournal> {
    const opened = await vectors();
    if (opened === undefined) {
      const hint = "claw audit verify lists the journals there are";
      return { name, chain: fail("not_found", `there is no journal ${name}`, { hint }) };
    }
    return { name, chain: opened.ok ? await opened.value.verify(name.slice(VECTORS.length)) : opened };
  }

  return {
    async verify(name) {
      if (name.startsWith(VECTORS)) return [await verifyVectors(name)];
      if (name !== "") return [{ name, chain: await sessions.verify(name) }];
      const audited = await verifyAll(sessions, "");
      const opened = await vectors();
      if (opened?.ok === false) return [...audited, { name: VECTORS, chain: opened }];
      return opened === undefined ? audited : [...audited, ...(await verifyAll(opened.value, VECTORS))];
    },
  };
}
