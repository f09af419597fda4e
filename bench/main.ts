// Every figure that the README quotes, measured here and now. Peers run in the same pass, interleaved; ratios travel,
// milliseconds do not.
import { cpus } from "node:os";
import { benchSay, benchStart } from "./daemon.ts";
import { printFigures } from "./figure.ts";
import { benchGoPlugins } from "./go-plugins.ts";
import { benchHooks } from "./hooks.ts";
import { benchJournal, printJournal } from "./journal.ts";
import { benchMemory } from "./memory.ts";
import { benchMemoryLexical } from "./memory-lexical.ts";
import { benchMemoryQuality } from "./memory-quality.ts";
import { benchSharedScan } from "./memory-vector-share.ts";
import { benchMemoryVectors } from "./memory-vectors.ts";
import { benchPlugins } from "./plugins.ts";
import { benchRounds } from "./rounds.ts";

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}`);
printFigures("start and rest", await benchStart());
printFigures("one message", await benchSay());
printFigures("tool rounds (vendor SDK, loopback model server and both syncs included)", await benchRounds());
printJournal(await benchJournal());
await benchHooks();
await benchPlugins();
await benchGoPlugins();
printFigures("memory: search by words", await benchMemoryLexical());
await benchMemoryVectors();
printFigures("memory: one search by vectors, over two threads", await benchSharedScan());
printFigures("memory: is the right thing found", await benchMemoryQuality());
printFigures("memory", await benchMemory());
