import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DaemonService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Context } from "../command.ts";
import { reachDaemon } from "../dial.ts";
import { indentOutput } from "../indent.ts";
import { openScreen, type Screen } from "../screen.ts";
import { EXIT, fail } from "../trouble.ts";
import { waitUntilGone } from "./daemon.ts";
import { showCrash } from "./tour-crash.ts";
import { askStatus, type Tour } from "./tour-stage.ts";
import { GUARD_HOOK, NEXT_COMMANDS, TOUR_QUERY } from "./tour-texts.ts";

const END_LIMIT_MS = 10_000;
const INDENT = "   ";

/** A step prints what really comes out; false says that it did not do what it should. */
type Step = { readonly title: string; readonly show: (tour: Tour) => Promise<boolean> };

/** `claw tour`: every part at work, on a data folder of its own that is gone afterwards. */
export async function tour(outer: Context): Promise<number> {
  const home = await mkdtemp(join(outer.temporaryFolder, "clawd-tour-"));
  const paint = outer.screen.paintData;
  const say = (line: string): void => outer.screen.layout(`${line}\n`);
  const current = openTour(outer, home);
  let left = false;
  const leave = (): void => {
    left = true;
    outer.screen.note("leaving; the tour's daemon is being stopped");
  };
  const stopHearing = outer.onInterrupt(leave);
  process.once("SIGTERM", leave);
  try {
    say(paint("bold", "claw tour: a few seconds through the house. Everything below really happens."));
    say(paint("dim", `data folder ${home} (deleted at the end), workspace ${outer.packageRoot}`));
    for (const [at, step] of STEPS.entries()) {
      say(paint("bold", `\n${at + 1}. ${step.title}`));
      const shown = await step.show(current);
      if (left) return EXIT.interrupted;
      if (shown) continue;
      const message = `the tour ends here: step ${at + 1} did not do what it should`;
      return outer.report(fail("failed", message, "npm start -- doctor looks for the cause").trouble);
    }
    say(paint("bold", "\nThree next commands"));
    for (const [command, why] of NEXT_COMMANDS) say(`${INDENT}${paint("cyan", command.padEnd(44))} ${why}`);
    return EXIT.done;
  } finally {
    stopHearing();
    process.off("SIGTERM", leave);
    await endDaemon(current.context);
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function openTour(outer: Context, home: string): Tour {
  const { paintData: paint } = outer.screen;
  // What the tour shows is its data: notes go to stdout, too, so that a pipe keeps the order.
  const output = indentOutput(process.stdout, INDENT);
  // Tables are laid out for eyes even when a file keeps them.
  const screen: Screen = { ...openScreen(output, output, outer.env), dataIsTerminal: true };
  const context = outer.unattended({ env: { CLAWD_HOME: home }, screen, folder: outer.packageRoot });
  const showCommand = (argv: readonly string[]): void => {
    screen.layout(`${paint("cyan", "$")} ${paint("bold", `claw ${argv.map(quoteWord).join(" ")}`)}\n`);
  };
  return {
    context,
    home,
    showCommand,
    async command(argv) {
      showCommand(argv);
      return (await context.run(argv)) === EXIT.done;
    },
    tell: (line) => screen.layout(`${paint("dim", line)}\n`),
  };
}

const STEPS: readonly Step[] = [
  { title: "A daemon starts, by name or on demand", show: (tour) => tour.command(["up"]) },
  {
    title: "Memory: the docs become searchable; threads rank, DuckDB keeps",
    show: (tour) => tour.command(["memory", "index", "docs"]),
  },
  { title: "A plugin: its own process, with what it was granted and nothing else", show: installHello },
  { title: "A hook: a script in a V8 isolate, in a process of its own, that may touch nothing", show: addGuard },
  {
    title: "One message: a file, the plugin and memory, journaled as it streams",
    show: (tour) => {
      const text = 'read .gitignore then call plugin_hello_greet {"name":"traveller"} then search hash chain';
      return tour.command(["say", text, "--allow", "plugin_hello_greet"]);
    },
  },
  {
    title: "A dangerous command: --yolo says yes to every question, the hook says no all the same",
    show: (tour) => tour.command(["say", "run rm -rf ./precious", "--session", "last", "--yolo"]),
  },
  { title: "kill -9 in the middle of a turn: nothing that was told is lost, and the turn carries on", show: showCrash },
  {
    title: "The journals prove themselves, and answer questions",
    show: async (tour) => (await tour.command(["audit", "verify"])) && tour.command(["sql", TOUR_QUERY]),
  },
];

async function installHello(tour: Tour): Promise<boolean> {
  const status = await askStatus(tour.context);
  const command = ["plugin", "install", "plugins-examples/hello", "--yes"];
  if (status.ok && status.value.sandbox?.level !== "none") return tour.command(command);
  tour.tell("This machine has no bubblewrap to confine a plugin with. This one is ours, so it is trusted, by name:");
  return tour.command([...command, "--trust"]);
}

async function addGuard(tour: Tour): Promise<boolean> {
  const file = join(tour.home, "guard.ts");
  await writeFile(file, GUARD_HOOK);
  for (const line of GUARD_HOOK.trimEnd().split("\n")) tour.tell(`│ ${line}`);
  return tour.command(["hook", "add", file]);
}

/** Ends the tour's daemon, by force when it does not listen. */
async function endDaemon(context: Context): Promise<void> {
  const reached = await reachDaemon(context.plan);
  if (!reached.ok) return;
  const status = await reached.value.call(DaemonService.method.status, {});
  await reached.value.call(DaemonService.method.shutdown, {});
  reached.value.close();
  if (!status.ok || (await waitUntilGone(status.value.pid, END_LIMIT_MS))) return;
  process.kill(status.value.pid, "SIGKILL");
  await waitUntilGone(status.value.pid, END_LIMIT_MS);
}

/** A word of a command line as a shell wants it. */
function quoteWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return word.includes("'") ? `"${word}"` : `'${word}'`;
}
