import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Arguments } from "../args.ts";
import type { Context } from "../command.ts";
import { escapeLine } from "../escape.ts";
import { nearest } from "../nearest.ts";
import { printJson } from "../proto-json.ts";
import { EXIT, errorCode, fail, ok, type Result, thrownText } from "../trouble.ts";

/** The template's folder, files that it shares with an example, and how its test is run. */
type Skeleton = { readonly folder: string; readonly shared: readonly string[]; readonly test: string };

const TYPESCRIPT: Skeleton = { folder: "typescript", shared: [], test: "node --test" };
const PYTHON: Skeleton = {
  folder: "python",
  shared: ["plugins-examples/python-stdlib/clawd_plugin.py"],
  test: "python3 -m unittest",
};
const LANGUAGES: ReadonlyMap<string, Skeleton> = new Map([
  ["typescript", TYPESCRIPT],
  ["ts", TYPESCRIPT],
  ["python", PYTHON],
  ["py", PYTHON],
]);

/** As a manifest's name, and short enough that the full name of its tool is one. */
const NAME = /^[a-zA-Z][a-zA-Z0-9-]{0,39}$/;
/** So that no tool takes a template for a program. */
const TEMPLATE_ENDING = ".txt";

/** `claw plugin new LANGUAGE NAME`: writes a folder with a plugin that runs, and a test of it. Needs no daemon. */
export async function newPlugin(context: Context, args: Arguments): Promise<number> {
  const [language = "", name = ""] = args.positionals;
  const skeleton = LANGUAGES.get(language.toLowerCase());
  if (skeleton === undefined) {
    const close = nearest(language, [...LANGUAGES.keys()]);
    const hint = close === undefined ? "there are: typescript python" : `did you mean "${close}"?`;
    return context.report(fail("usage", `there is no skeleton in "${language}"`, hint).trouble);
  }
  if (!NAME.test(name)) {
    const hint = "a name is a letter, then at most 39 letters, digits or hyphens";
    return context.report(fail("usage", `"${name}" is no name for a plugin`, hint).trouble);
  }
  const folder = join(resolve(context.folder, args.text("dir") ?? "."), name);
  const written = await writeSkeleton(context.packageRoot, skeleton, name, folder);
  if (!written.ok) return context.report(written.trouble);
  if (args.on("json")) {
    printJson(context.screen, { name, folder, files: written.value });
    return EXIT.done;
  }
  const { screen } = context;
  screen.note(`wrote ${escapeLine(folder)}: ${written.value.join(" ")}`);
  screen.note(`  test it:    cd ${escapeLine(folder)} && ${skeleton.test}`);
  screen.note(`  install it: claw plugin install ${escapeLine(folder)}`);
  return EXIT.done;
}

/** Gives the names of the files. An existing folder is left alone. */
async function writeSkeleton(
  packageRoot: string,
  { folder: language, shared }: Skeleton,
  name: string,
  folder: string,
): Promise<Result<readonly string[]>> {
  const templates = join(packageRoot, "cli", "skeletons", language);
  try {
    const files = new Map<string, string>();
    for (const template of await readdir(templates)) {
      const text = await readFile(join(templates, template), "utf8");
      files.set(template.slice(0, -TEMPLATE_ENDING.length), text.replaceAll("{{name}}", name));
    }
    for (const path of shared) {
      files.set(path.slice(path.lastIndexOf("/") + 1), await readFile(join(packageRoot, path), "utf8"));
    }
    await mkdir(join(folder, ".."), { recursive: true });
    await mkdir(folder);
    for (const [file, text] of files) await writeFile(join(folder, file), text, { flag: "wx" });
    return ok([...files.keys()].sort());
  } catch (cause) {
    if (errorCode(cause) === "EEXIST")
      return fail("failed", `${folder} is there already`, "name another one, or --dir");
    return fail("failed", `the plugin cannot be written to ${folder}: ${thrownText(cause)}`);
  }
}
