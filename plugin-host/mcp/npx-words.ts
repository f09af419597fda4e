import { basename } from "node:path";
import { judgeWords, type ReadPackageWords, type WordRules } from "./package-words.ts";

/** What changes nothing about which package is meant. */
const WITHOUT_EFFECT = new Set([
  "-y",
  "--yes",
  "-q",
  "--quiet",
  "-s",
  "--silent",
  "--prefer-online",
  "--prefer-offline",
]);
const RULES: WordRules = {
  kind: "npm",
  form: "npx -y PACKAGE",
  /** Name, and a version, a range or a tag. Paths, addresses and aliases are none. */
  spec: /^(?!.*\.(?:tgz|tar|tar\.gz)$)(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*(?:@(?!npm:|file:|link:|git[+:]|https?:|github:)[\w.^~<>=|*+ -]+)?$/i,
};

/** Understands `npx …` and `npm exec …`; undefined for any other program. */
export function readNpx(command: string, args: readonly string[]): ReadPackageWords | undefined {
  const program = basename(command);
  if (program === "npx") return readWords(args);
  const isExec = program === "npm" && /^(?:exec|x)$/.test(args[0] ?? "");
  return isExec ? readWords(args.slice(1), "npm") : undefined;
}

/** npx takes everything behind its first plain word for the program's, and npm only what stands behind `--`. */
function readWords(words: readonly string[], by: "npx" | "npm" = "npx"): ReadPackageWords {
  const packages: string[] = [];
  const plain: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const [, inline] = /^(?:-p|--package)=(.*)$/s.exec(word) ?? [];
    if (word === "--") {
      plain.push(...words.slice(at + 1));
      break;
    }
    if (inline !== undefined) packages.push(inline);
    else if (word === "-p" || word === "--package") {
      at += 1;
      packages.push(words[at] ?? "");
    } else if (WITHOUT_EFFECT.has(word)) continue;
    else if (word.startsWith("-"))
      return { ok: false, problem: `has ${word}, which only ${by} itself understands`, form: RULES.form };
    else if (by === "npm") plain.push(word);
    else {
      plain.push(...words.slice(at));
      break;
    }
  }
  return judgeWords(RULES, packages, plain);
}
