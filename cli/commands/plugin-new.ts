import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { Arguments } from "../args.ts";
import type { Context } from "../command.ts";
import { escapeLine } from "../escape.ts";
import { nearest } from "../nearest.ts";
import { printJson } from "../proto-json.ts";
import { EXIT, errorCode, fail, ok, type Result, thrownText } from "../trouble.ts";

/**
 * The template's folder, files that it shares with an example, what is done once before anything else, and how its test is
 * run. In templates and commands {{root}} is where clawd lies, {{node}} the Node that it runs on, {{python}} the Python that
 * a plugin is run with.
 */
type Skeleton = {
  readonly folder: string;
  readonly shared: readonly string[];
  readonly prepare?: string;
  readonly test: string;
  /** How its program is made, where it must be, and the folder in it that is then installed. */
  readonly build?: { readonly command: string; readonly plugin: string };
  /** A library that it takes along: where that lies in clawd, and the folder that it comes into. */
  readonly vendor?: {
    readonly from: string;
    readonly to: string;
    readonly files: readonly string[];
    /** What is for its own authors only. */
    readonly leaveOut?: RegExp;
  };
};

const TYPESCRIPT: Skeleton = { folder: "typescript", shared: [], test: "{{node}} --test count-words.test.ts" };
const PYTHON: Skeleton = {
  folder: "python",
  shared: [],
  prepare: "{{python}} -m pip install --target vendor {{root}}/plugin-host/sdk-python",
  test: "{{python}} -m unittest",
};
/** With nothing but what Python brings itself. */
const PYTHON_STDLIB: Skeleton = {
  folder: "python-stdlib",
  shared: ["plugins-examples/python-stdlib/clawd_plugin.py"],
  test: "python3 -m unittest",
};
const RUST: Skeleton = {
  folder: "rust",
  shared: [],
  test: "cargo test",
  build: { command: "cargo install --path . --root plugin --no-track --force", plugin: "plugin" },
  vendor: { from: "plugin-host/sdk-rust", to: "vendor/clawd-plugin", files: ["Cargo.toml", "src"] },
};
const GO: Skeleton = {
  folder: "go",
  // It uses what every plugin on the library does: the library's own packages.
  shared: ["plugins-examples/code-search/go.sum"],
  test: "go test .",
  build: { command: "CGO_ENABLED=0 go build -trimpath -o plugin/ .", plugin: "plugin" },
  vendor: {
    from: "plugin-host/sdk-go",
    to: "clawd-plugin",
    files: ["."],
    leaveOut: /(_test\.go|\.ts|\.yaml|\.sha256|\.sh)$/,
  },
};
const LANGUAGES: ReadonlyMap<string, Skeleton> = new Map([
  ["typescript", TYPESCRIPT],
  ["ts", TYPESCRIPT],
  ["python", PYTHON],
  ["py", PYTHON],
  ["python-stdlib", PYTHON_STDLIB],
  ["go", GO],
  ["golang", GO],
  ["rust", RUST],
  ["rs", RUST],
]);

/** As a manifest's name, and short enough that the full name of its tool is one. */
const NAME = /^[a-zA-Z][a-zA-Z0-9-]{0,39}$/;
/** Where plugins find the programs of the system; the first that is there runs them. */
const PYTHONS = ["/usr/local/bin/python3", "/usr/bin/python3", "/bin/python3"];
/** Where clawd lies, and the Node that it runs on. */
type Machine = { readonly root: string; readonly node: string };

/** What no shell gives another meaning. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;
/** So that no tool takes a template for a program. */
const TEMPLATE_ENDING = ".txt";

/** `claw plugin new LANGUAGE NAME`: writes a folder with a plugin that runs, and a test of it. Needs no daemon. */
export async function newPlugin(context: Context, args: Arguments): Promise<number> {
  const [language = "", name = ""] = args.positionals;
  const skeleton = LANGUAGES.get(language.toLowerCase());
  if (skeleton === undefined) {
    const close = nearest(language, [...LANGUAGES.keys()]);
    const hint =
      close === undefined ? "there are: typescript python python-stdlib go rust" : `did you mean "${close}"?`;
    return context.report(fail("usage", `there is no skeleton in "${language}"`, hint).trouble);
  }
  if (!NAME.test(name)) {
    const hint = "a name is a letter, then at most 39 letters, digits or hyphens";
    return context.report(fail("usage", `"${name}" is no name for a plugin`, hint).trouble);
  }
  const folder = join(resolve(context.folder, args.text("dir") ?? "."), name);
  const machine = { root: context.packageRoot, node: context.plan.nodeBinary };
  const written = await writeSkeleton(machine, skeleton, name, folder);
  if (!written.ok) return context.report(written.trouble);
  if (args.on("json")) {
    printJson(context.screen, { name, folder, files: written.value });
    return EXIT.done;
  }
  const { screen } = context;
  screen.note(`wrote ${escapeLine(folder)}: ${written.value.join(" ")}`);
  const quoted = { root: quoteWord(machine.root), node: quoteWord(machine.node) };
  const say = (command: string) => escapeLine(`cd ${quoteWord(folder)} && ${fillIn(command, name, quoted)}`);
  if (skeleton.prepare !== undefined) screen.noteWhole(`  first:      ${say(skeleton.prepare)}`);
  screen.noteWhole(`  test it:    ${say(skeleton.test)}`);
  if (skeleton.build !== undefined) screen.noteWhole(`  build it:   ${say(skeleton.build.command)}`);
  const plugin = quoteWord(join(folder, skeleton.build?.plugin ?? ""));
  screen.noteWhole(`  install it: claw plugin install ${escapeLine(plugin)}`);
  screen.noteWhole(
    `  use it:     claw say 'call plugin_${escapeLine(name)}_count_words {"text":"one two three"}' --yolo`,
  );
  return EXIT.done;
}

/** What templates and commands leave open. */
function fillIn(text: string, name: string, { root, node }: Machine): string {
  const python = PYTHONS.find((path) => existsSync(path)) ?? "python3";
  const parts = { "{{name}}": name, "{{root}}": root, "{{node}}": node, "{{python}}": python };
  return Object.entries(parts).reduce((filled, [gap, part]) => filled.replaceAll(gap, () => part), text);
}

/** One word of a shell's, whatever stands in it. */
function quoteWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Gives the names of the files. An existing folder is left alone. */
async function writeSkeleton(
  machine: Machine,
  { folder: language, shared, vendor }: Skeleton,
  name: string,
  folder: string,
): Promise<Result<readonly string[]>> {
  const templates = join(machine.root, "cli", "skeletons", language);
  try {
    const files = new Map<string, string>();
    for (const template of await listFiles(templates)) {
      const text = await readFile(join(templates, template), "utf8");
      files.set(template.slice(0, -TEMPLATE_ENDING.length), fillIn(text, name, machine));
    }
    for (const path of shared) {
      files.set(path.slice(path.lastIndexOf("/") + 1), await readFile(join(machine.root, path), "utf8"));
    }
    const own = [...files.keys()].sort();
    if (vendor !== undefined) {
      const from = join(machine.root, vendor.from);
      const library = await Promise.all(vendor.files.map((part) => listFiles(from, part)));
      const wanted = library.flat().filter((file) => vendor.leaveOut?.test(file) !== true);
      for (const file of wanted) files.set(join(vendor.to, file), await readFile(join(from, file), "utf8"));
    }
    await mkdir(join(folder, ".."), { recursive: true });
    await mkdir(folder);
    for (const [file, text] of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text, { flag: "wx" });
    }
    return ok(vendor === undefined ? own : [...own, vendor.to]);
  } catch (cause) {
    if (errorCode(cause) === "EEXIST")
      return fail("failed", `${folder} is there already`, "name another one, or --dir");
    return fail("failed", `the plugin cannot be written to ${folder}: ${thrownText(cause)}`);
  }
}

/** The file `part`, or those in that folder, all the way down; as paths in `folder`. */
async function listFiles(folder: string, part = "."): Promise<readonly string[]> {
  const whole = join(folder, part);
  if ((await stat(whole)).isFile()) return [part];
  const entries = await readdir(whole, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}
