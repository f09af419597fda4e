import { type Flaw, type Position, readChain, START } from "./chain-reader.ts";
import type { DiskFile } from "./disk.ts";

/** How far a journal is good; `flaw` when it is not good to its end. */
export type Extent = { readonly end: Position; readonly flaw: Flaw | undefined };

/**
 * Brings a file that a process may have left in the middle of a write back to whole lines: what cannot have been
 * acknowledged is cut, a whole line that lacks only its newline gets it, and a broken line is reported with nothing
 * cut. Afterwards all of it is durable: lines that were written but not synced when their writer died are read by
 * someone next, and nobody may hear of an event that a power failure could still take back.
 * Rejects with the system's error.
 */
export async function recoverTail(file: DiskFile, path: string): Promise<Extent> {
  let end = START;
  let flaw: Flaw | undefined;
  for await (const part of readChain(path, START, file.sizeBytes)) {
    if (part.kind === "line") end = part.after;
    else flaw = part.flaw;
  }
  if (flaw?.sort === "torn") await file.truncate(end.offset);
  if (flaw?.sort === "unterminated") await file.write(Buffer.from("\n"), file.sizeBytes);
  await file.sync();
  if (flaw?.sort !== "unterminated") return { end, flaw: flaw?.sort === "broken" ? flaw : undefined };
  for await (const part of readChain(path, end, file.sizeBytes + 1)) {
    if (part.kind === "line") end = part.after;
  }
  return { end, flaw: undefined };
}
