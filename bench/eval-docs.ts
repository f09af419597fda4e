// Questions about this project's own documents, as somebody asks who has not read them. A question is judged by the words of
// its answer: every piece that holds them is relevant. One whose answer was rewritten is left out, so that editing a
// document never breaks a measurement.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chunkMarkdown } from "../core/memory/source/prose-chunker.ts";
import { type EvalSet, judge } from "./eval-set.ts";

type Question = readonly [question: string, file: string, answer: string];

const QUESTIONS: readonly Question[] = [
  ["how long does a hook get to answer before it is considered failed?", "hooks.md", "how long one answer may take"],
  ["stop the agent from running sudo commands", "hooks.md", "sudo is not for agents"],
  ["where can a hook script keep a counter between sessions?", "hooks.md", "keeps a few values for the hook"],
  ["can I turn a hook off without deleting it?", "hooks.md", "turn it off and on"],
  ["which moments can a hook listen to?", "hooks.md", "what an answer can do depends on the point"],
  ["how do I hide secret keys that appear in tool output?", "hooks.md", "sk-[A-Za-z0-9]{8,}"],
  ["what happens when two hooks both change the value?", "hooks.md", "feeds the next hook"],
  ["is there autocompletion of types for hooks in my editor?", "hooks.md", "gives completion"],
  ["what does the agent do when a header of a hook has a mistake in it?", "hooks.md", "refused by `claw hook add`"],
  ["who wins when something is both allowed and denied?", "permissions.md", "A deny always beats an allow"],
  ["are symbolic links followed?", "permissions.md", "A link opens nothing"],
  ["can a script write into the .git folder?", "permissions.md", "is not written even inside a grant"],
  ["environment variables with passwords or tokens", "permissions.md", "whose name says that it is a secret"],
  ["how do I grant access to one site and all of its subdomains", "permissions.md", "that name and all below it"],
  ["can a script contact localhost or my router?", "permissions.md", "What is not public needs its own grant"],
  ["importing npm packages in a script", "permissions.md", "imports are refused"],
  ["how long does a permission question wait for my answer?", "permissions.md", "It waits 60 seconds"],
  ["list everything that was refused", "permissions.md", "from permissions where not allowed"],
  ["why are synchronous file reads missing?", "permissions.md", "Nothing waits by standing still"],
  [
    "DNS rebinding: is the address checked after the name was resolved?",
    "permissions.md",
    "every address that comes of it",
  ],
  ["how can I start a new plugin from a template?", "plugins.md", "claw plugin new typescript"],
  ["what happens to a conversation when a plugin crashes?", "plugins.md", "Each end that nobody wanted"],
  ["is an unused plugin stopped after a while?", "plugins.md", "is stopped, and the next call starts it again"],
  ["how often is a plugin checked for being alive?", "plugins.md", "Every fifteen seconds"],
  ["limit the RAM of a plugin", "plugins.md", "limits.memoryMib"],
  ["where do I see what a plugin printed?", "plugins.md", "has the last 200 lines"],
  ["upgrading a plugin that suddenly wants more permissions", "plugins.md", "One that asks for more"],
  ["take a permission away from a plugin again", "plugins.md", "claw plugin revoke weather net"],
  ["which archive formats can be installed?", "plugins.md", "an archive (.tgz, .tar, .zip)"],
  ["can a plugin ask me a yes or no question?", "plugins.md", "puts a yes-or-no question"],
  ["how much may a plugin store for itself?", "plugins.md", "1 MiB in all; 8 MiB of changes"],
  ["write a plugin as a shell script", "plugins.md", "speaks JSON-RPC 2.0 on its standard input"],
  ["write a plugin in a language that has no gRPC", "plugins.md", "A language without a gRPC library"],
  ["what signals does a process get at shutdown?", "plugins.md", "SIGKILL; a quarter of a second later"],
  ["how does a plugin learn the address of its host?", "plugins.md", "writes one line to its standard input"],
  ["how can I make the assistant forget something?", "memory.md", "takes notes out"],
  ["find only PDF files that changed last week", "memory.md", "more than one may be given"],
  ["exact phrase search and excluding words", "memory.md", '`"a phrase"` must stand there'],
  ["a fact changed, how do I replace the old one?", "memory.md", "**supersedes** the older one"],
  ["how long are notes kept, can they expire?", "memory.md", "From that moment on a search does not find it"],
  ["may I delete the memory folder?", "memory.md", "it may be deleted while the daemon is down"],
  ["who can see a note that belongs to one project?", "memory.md", "Whoever looks from elsewhere"],
  ["what does the model get to read before it answers me?", "memory.md", "memory is asked with your words"],
  ["does it learn contradictions by itself?", "memory.md", "never judged to contradict each other"],
  ["how many characters can a note have?", "memory.md", "At most 50,000 notes"],
  ["which model answers when I configured nothing?", "config.md", "anthropic when there is a key, else rehearsal"],
  ["are my files sent to OpenAI for embeddings?", "config.md", "are sent to that service"],
  ["using a local ollama server for vectors", "config.md", "http://127.0.0.1:11434/v1"],
  ["how many steps may the agent take when nobody watches?", "config.md", "unattended_steps"],
  ["give shell commands access to the internet", "config.md", "every public address, through a proxy"],
  ["what if my configuration file has a syntax error?", "config.md", "config.last-good.toml"],
  ["why are journals text and not binary?", "decisions/0001", "cannot be read by the person whose life is in it"],
  ["why is there no approximate nearest neighbour index?", "decisions/0020", "Approximate indexes (HNSW)"],
  ["which files on disk need a backup?", "ARCHITECTURE.md", "Only journals are precious"],
  ["what is written first, the event or the message to the client?", "ARCHITECTURE.md", "Append before tell"],
  ["what happens to a half finished tool call after a crash?", "ARCHITECTURE.md", "Intent before effect"],
];

/** The Markdown of docs/, cut as memory cuts it, and the questions that it still answers. */
export function docsSet(root: string): EvalSet {
  const folder = join(root, "docs");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
  const documents = files.sort().flatMap((file) =>
    chunkMarkdown(readFileSync(join(folder, file), "utf8")).map(({ title, text, line }) => {
      return { id: `${file}:${line}`, title: `docs/${file} ${title}`, text };
    }),
  );
  return {
    documents,
    queries: judge(QUESTIONS, ([text, file, answer]) => ({
      text,
      relevant: documents.filter(({ id, text: told }) => id.startsWith(file) && flat(told).includes(answer)),
    })),
  };
}

function flat(text: string): string {
  return text.replace(/\s+/g, " ");
}
