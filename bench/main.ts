// Every figure that the README quotes, measured here and now. Peers run in the same pass, interleaved; ratios travel,
// milliseconds do not.
import { cpus } from "node:os";
import { benchSay, benchStart } from "./daemon.ts";
import { printFigures } from "./figure.ts";
import { benchHooks } from "./hooks.ts";
import { benchJournal, printJournal } from "./journal.ts";
import { benchMemory } from "./memory.ts";
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
await benchMemoryVectors();
printFigures("memory", await benchMemory());
