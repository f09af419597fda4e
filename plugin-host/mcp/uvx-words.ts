import { basename } from "node:path";
import { judgeWords, type ReadPackageWords, type WordRules } from "./package-words.ts";

const RULES: WordRules = {
  kind: "python",
  form: "uvx PACKAGE",
  /** Name, extras, and a version behind `@` or conditions of one. Paths, addresses and archives are none. */
  spec: /^(?!.*\.(?:whl|zip|tar|tar\.\w+|tgz)$)[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?(?:\[[a-z0-9._,-]+\])?(?:@(?:latest|v?\d[\w.!+-]*)|(?:(?:===?|~=|!=|[<>]=?)[\w.*!+-]+(?:, ?)?)+)?$/i,
};
/** What changes nothing about which package is meant. */
const WITHOUT_EFFECT =
  /^(?:-q|--quiet|-v|--verbose|-n|--no-cache|--refresh|--isolated|--no-progress|--native-tls|--no-build|--managed-python|--no-managed-python)$/;

/** Which of its flags have a word of their own behind them, or one behind `=`. */
type Flags = {
  /** The package with the program, whose name is then the first plain word. */
  readonly from: readonly string[];
  /** Packages that the program has beside its own. */
  readonly beside: readonly string[];
};

const UVX: Flags = { from: ["--from"], beside: ["--with", "-w"] };
const PIPX: Flags = { from: ["--spec"], beside: [] };

/** Understands `uvx …`, `uv tool run …` and `pipx run …`; undefined for any other program. */
export function readUvx(command: string, args: readonly string[]): ReadPackageWords | undefined {
  const program = basename(command);
  if (program === "uvx") return readWords("uvx", UVX, args);
  if (program === "uv" && args[0] === "tool" && args[1] === "run") return readWords("uv", UVX, args.slice(2));
  return program === "pipx" && args[0] === "run" ? readWords("pipx", PIPX, args.slice(1)) : undefined;
}

/** Everything behind the first plain word is the program's. */
function readWords(by: string, flags: Flags, words: readonly string[]): ReadPackageWords {
  const from: string[] = [];
  const beside: string[] = [];
  let at = 0;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const [, flag = word, inline] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
    const list = flags.from.includes(flag) ? from : flags.beside.includes(flag) ? beside : undefined;
    if (list !== undefined) {
      if (inline === undefined) at += 1;
      // Several stand behind one `--with`, with commas between, which extras have too.
      list.push(inline ?? words[at] ?? "");
    } else if (!word.startsWith("-")) break;
    else if (word === "--") {
      at += 1;
      break;
    } else if (!WITHOUT_EFFECT.test(word))
      return { ok: false, problem: `has ${word}, which only ${by} itself understands`, form: RULES.form };
  }
  if (from.length > 1) return { ok: false, problem: "names two packages for one program", form: RULES.form };
  return judgeWords(RULES, from, words.slice(at), beside);
}

/** What `uvx` writes as `name@1.2` is `name==1.2` to installers. */
export function requirementOf(spec: string): string {
  return spec.replace(/@latest$/i, "").replace(/@v?(?=\d)/, "==");
}
