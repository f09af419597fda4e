// Makes bench/fixtures/eval-small, the data set that `claw memory eval` is tried on: subjects and what is done with them, told in
// other words than they are asked for, identifiers among prose, and texts that share words with a question but do not answer it.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SEED = 20_260_501;
const FOLDER = join(import.meta.dirname, "fixtures", "eval-small");

/** How a document names it, and how a question does. */
type Named = { readonly told: readonly string[]; readonly asked: readonly string[]; readonly code: string };

const SUBJECTS: readonly Named[] = [
  {
    told: ["session journals", "the journal of a session"],
    asked: ["journal", "session journals"],
    code: "sessionJournal",
  },
  { told: ["signing keys", "the key that signs releases"], asked: ["signing key", "release keys"], code: "signingKey" },
  { told: ["worker threads", "threads of the pool"], asked: ["workers", "thread pool"], code: "workerPool" },
  { told: ["customer invoices", "an invoice"], asked: ["invoices", "customer's invoice"], code: "customerInvoice" },
  {
    told: ["database migrations", "the migration of a schema"],
    asked: ["migrations", "schema migration"],
    code: "schemaMigration",
  },
  { told: ["access tokens", "a bearer token"], asked: ["token", "access tokens"], code: "accessToken" },
  {
    told: ["garden irrigation", "watering of the beds"],
    asked: ["watering the garden", "irrigation"],
    code: "gardenValve",
  },
  {
    told: ["sourdough starters", "the starter for bread"],
    asked: ["bread starter", "sourdough"],
    code: "starterFeeding",
  },
  { told: ["backup archives", "nightly archives"], asked: ["backups", "nightly backup"], code: "backupArchive" },
  {
    told: ["network proxies", "the proxy for outgoing connections"],
    asked: ["proxy", "proxies"],
    code: "outgoingProxy",
  },
  { told: ["travel bookings", "the booked flights"], asked: ["flight bookings", "travels"], code: "flightBooking" },
  {
    told: ["search segments", "segments of the inverted index"],
    asked: ["index segments", "segment"],
    code: "indexSegment",
  },
  {
    told: ["meeting minutes", "notes of the weekly meeting"],
    asked: ["minutes of meetings", "meeting notes"],
    code: "meetingMinutes",
  },
  {
    told: ["temperature sensors", "the sensor in the cellar"],
    asked: ["sensor", "cellar temperature"],
    code: "cellarSensor",
  },
  {
    told: ["plugin manifests", "what a manifest declares"],
    asked: ["manifest", "plugin's manifest"],
    code: "pluginManifest",
  },
  {
    told: ["insurance policies", "the policy for the house"],
    asked: ["house insurance", "insurance policy"],
    code: "housePolicy",
  },
];

const ACTIONS: readonly Named[] = [
  { told: ["are rotated", "rotation happens"], asked: ["rotate", "rotating"], code: "rotate" },
  { told: ["are deleted", "deletion is final"], asked: ["delete", "deleting"], code: "delete" },
  { told: ["were moved to another place", "moving takes a night"], asked: ["move", "moving"], code: "move" },
  {
    told: ["get verified by checksum", "verification compares checksums"],
    asked: ["verify", "checking"],
    code: "verify",
  },
  { told: ["are compressed", "compression saves a third"], asked: ["compress", "compressing"], code: "compress" },
  {
    told: ["expire after ninety days", "expiration is set to ninety days"],
    asked: ["expiring", "expiration of"],
    code: "expire",
  },
  { told: ["are shared with the team", "sharing needs a consent"], asked: ["share", "sharing"], code: "share" },
  {
    told: ["are restored after a crash", "restoring goes on by itself"],
    asked: ["restore", "restoring"],
    code: "restore",
  },
];

const REMARKS = [
  "Anna wrote this down after the incident in March.",
  "It has been so since the second release.",
  "Nobody has to be asked for it.",
  "The checklist in the wiki names every step.",
  "Whoever is on call does it before noon.",
  "The old way is described elsewhere.",
  "There were two complaints about it last year.",
  "It takes some minutes and can be interrupted.",
];

const QUESTIONS = [
  (subject: string, action: string) => `how do I go about ${action} the ${subject}?`,
  (subject: string, action: string) => `what did we say about ${action} ${subject}`,
  (subject: string, action: string) => `${action} ${subject}`,
  (subject: string, action: string) => `is there anything on ${subject} and ${action} that I should know about?`,
];

const CHATTER = [
  "What did we say about it, and is there anything that I should know about how to go on?",
  "How do I go about this, what is it that we do, and what did they say about that?",
  "I do not know what to say about it; is there anything that was said before?",
];

type Line = Readonly<Record<string, string>>;

/** Mulberry32. */
function randomOf(seed: number): <T>(choices: readonly [T, ...T[]] | readonly T[]) => T {
  let state = seed;
  return (choices) => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    const chosen = choices[(mixed >>> 0) % choices.length];
    if (chosen === undefined) throw new Error("nothing to choose from");
    return chosen;
  };
}

/** The files of the data set by name; the same every time. */
export function makeDataSet(): ReadonlyMap<string, string> {
  const pick = randomOf(SEED);
  const documents: Line[] = [];
  const queries: Line[] = [];
  const judgements: string[] = ["query-id\tcorpus-id\tscore"];
  for (const [at, subject] of SUBJECTS.entries()) {
    for (const [which, action] of ACTIONS.entries()) {
      const place = `${at}-${which}`;
      documents.push({ _id: `p${place}`, title: pick(subject.told), text: proseOf(subject, action, pick) });
      documents.push({ _id: `c${place}`, title: `src/${subject.code}.ts`, text: codeOf(subject, action, pick) });
    }
    documents.push({ _id: `d${at}`, title: "", text: `${pick(CHATTER)} ${pick(REMARKS)} ${pick(CHATTER)}` });
    documents.push({ _id: `s${at}`, title: pick(subject.told), text: `${pick(REMARKS)} ${pick(REMARKS)}` });
  }
  for (const [at, subject] of SUBJECTS.entries()) {
    for (const [which, action] of ACTIONS.entries()) {
      const place = `${at}-${which}`;
      if (which % 2 === at % 2) {
        queries.push({ _id: `q${place}`, text: pick(QUESTIONS)(pick(subject.asked), pick(action.asked)) });
        judgements.push(`q${place}\tp${place}\t2`, `q${place}\tc${place}\t1`);
      } else {
        queries.push({ _id: `i${place}`, text: identifierQuery(subject, action, pick) });
        judgements.push(`i${place}\tc${place}\t2`, `i${place}\tp${place}\t1`);
      }
    }
  }
  const jsonLines = (lines: readonly Line[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  return new Map([
    ["docs.jsonl", jsonLines(documents)],
    ["queries.jsonl", jsonLines(queries)],
    ["qrels.tsv", `${judgements.join("\n")}\n`],
  ]);
}

function proseOf(subject: Named, action: Named, pick: ReturnType<typeof randomOf>): string {
  const [first, second] = [pick(action.told), pick(subject.told)];
  return `${pick(REMARKS)} As for ${pick(subject.told)}: they ${first}. ${pick(REMARKS)} See also ${second}.`;
}

function codeOf(subject: Named, action: Named, pick: ReturnType<typeof randomOf>): string {
  const name = capital(subject.code);
  return `export function ${action.code}${name}(options) {\n  // ${pick(REMARKS)}\n  return with${name}(options, "${action.code}");\n}`;
}

function identifierQuery(subject: Named, action: Named, pick: ReturnType<typeof randomOf>): string {
  const words = subject.code.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const name = capital(subject.code);
  return pick([`${action.code}${name}`, `${action.code} ${words}`, `where is ${action.code}${name} defined?`]);
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

if (import.meta.main) {
  await mkdir(FOLDER, { recursive: true });
  for (const [name, text] of makeDataSet()) await writeFile(join(FOLDER, name), text);
}
