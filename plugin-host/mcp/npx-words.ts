import { basename } from "node:path";

/** What an entry with `npx` names: packages of a registry, one of their programs, and its arguments. */
export type NpxWords = {
  /** As they are written, e.g. `@scope/name@^1.2`. */
  readonly packages: readonly string[];
  /** Which of their programs; undefined for the one that its package is known by. */
  readonly program: string | undefined;
  readonly args: readonly string[];
};

export type ReadNpx =
  | { readonly ok: true; readonly value: NpxWords }
  /** Ends a sentence that begins with the entry. */
  | { readonly ok: false; readonly problem: string };

/** What changes nothing about which package is meant. */
const WITHOUT_EFFECT = new Set(
  ["y", "-yes", "q", "-quiet", "s", "-silent", "-prefer-online", "-prefer-offline"].map((one) => `-${one}`),
);
/** A package of a registry: name, and a version, a range or a tag. Paths, addresses and aliases are none. */
const SPEC =
  /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*(?:@(?!npm:|file:|link:|git[+:]|https?:|github:)[\w.^~<>=|*+ -]+)?$/i;
/** What npm itself refuses is longer. */
const MAX_SPEC = 256;

/** Understands `npx …` and `npm exec …`; undefined for any other program. */
export function readNpx(command: string, args: readonly string[]): ReadNpx | undefined {
  const program = basename(command);
  if (program === "npx") return readWords(args);
  const isExec = program === "npm" && /^(?:exec|x)$/.test(args[0] ?? "");
  return isExec ? readWords(args.slice(1), "npm") : undefined;
}

/** npx takes everything behind its first plain word for the program's, and npm only what stands behind `--`. */
function readWords(words: readonly string[], by: "npx" | "npm" = "npx"): ReadNpx {
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
    else if (word.startsWith("-")) return { ok: false, problem: `has ${word}, which only ${by} itself understands` };
    else if (by === "npm") plain.push(word);
    else {
      plain.push(...words.slice(at));
      break;
    }
  }
  return judgeWords(packages, plain);
}

function judgeWords(packages: readonly string[], [first, ...args]: readonly string[]): ReadNpx {
  if (first === undefined || first === "") return { ok: false, problem: "names no package" };
  const named = packages.length === 0 ? [first] : packages;
  const odd = named.find((one) => one.length > MAX_SPEC || !SPEC.test(one));
  if (odd !== undefined)
    return { ok: false, problem: `names ${JSON.stringify(odd.slice(0, MAX_SPEC))}, which is no package of a registry` };
  return { ok: true, value: { packages: named, program: packages.length === 0 ? undefined : first, args } };
}
