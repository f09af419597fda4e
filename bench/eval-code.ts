// The code of core/: what a doc comment says is asked, and the declaration below it, without the comment, is to be found.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type EvalSet, judge } from "./eval-set.ts";

const DECLARED =
  /\/\*\*((?:(?!\*\/)[\s\S])+)\*\/\n(export (?:async )?(?:function|type|const) (\w+)[\s\S]*?\n(?:\}|\);?|\];)?\n)/g;
const COMMENT_LEAST_WORDS = 8;
const TEXT_LIMIT_CHARS = 1_500;
/** Every so many declarations one is asked for; all of them are there to be found. */
const ASKED_STEP = 2;

/** Every exported declaration with a comment of some length. */
export function codeSet(root: string): EvalSet {
  const folder = join(root, "core");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .sort();
  const declared = files.flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(DECLARED)].flatMap(
      ([, comment = "", text = "", name = ""]) => {
        const said = comment
          .replace(/^\s*\* ?/gm, " ")
          .replace(/\s+/g, " ")
          .trim();
        const [question = ""] = said.split(/(?<=[.:;])\s/);
        const document = { id: `${file}#${name}`, title: `core/${file}`, text: text.slice(0, TEXT_LIMIT_CHARS) };
        return question.split(" ").length < COMMENT_LEAST_WORDS ? [] : [{ question, document }];
      },
    ),
  );
  const documents = [...new Map(declared.map(({ document }) => [document.id, document])).values()];
  return {
    documents,
    queries: judge(
      declared.filter((_, at) => at % ASKED_STEP === 0),
      ({ question, document }) => ({ text: question, relevant: [document] }),
    ),
  };
}
