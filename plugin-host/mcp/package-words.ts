/** Whose packages: npm's, or Python's, which uv and pip fetch. */
export type PackageKind = "npm" | "python";

/** What an entry names that fetches its server: packages of a registry, one of their programs, and its arguments. */
export type PackageWords = {
  readonly kind: PackageKind;
  /** As they are written, e.g. `@scope/name@^1.2` or `name==1.2`. */
  readonly packages: readonly string[];
  /** Which of their programs; undefined for the one that its package is known by. */
  readonly program: string | undefined;
  readonly args: readonly string[];
};

export type ReadPackageWords =
  | { readonly ok: true; readonly value: PackageWords }
  /** `problem` ends a sentence that begins with the entry; `form` is what could be written. */
  | { readonly ok: false; readonly problem: string; readonly form: string };

/** What npm itself refuses is longer. */
const MAX_SPEC = 256;

/** How the words of one kind are judged. */
export type WordRules = {
  readonly kind: PackageKind;
  /** What a package of a registry looks like. */
  readonly spec: RegExp;
  /** What a person could write. */
  readonly form: string;
};

/**
 * @param packages those that flags named; with none the first word is the package
 * @param more packages beside the one with the program
 */
export function judgeWords(
  { kind, spec, form }: WordRules,
  packages: readonly string[],
  [first, ...args]: readonly string[],
  more: readonly string[] = [],
): ReadPackageWords {
  if (first === undefined || first === "") return { ok: false, problem: "names no package", form };
  const named = [...(packages.length === 0 ? [first] : packages), ...more];
  const odd = named.find((one) => one.length > MAX_SPEC || !spec.test(one));
  if (odd !== undefined) {
    const problem = `names ${JSON.stringify(odd.slice(0, MAX_SPEC))}, which is no package of a registry`;
    return { ok: false, problem, form };
  }
  return { ok: true, value: { kind, packages: named, program: packages.length === 0 ? undefined : first, args } };
}
