import { realpath, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isInFolder } from "../../sandbox/permission/grant.ts";

const MAX_MESSAGES = 5;
/** A plugin that takes longer to bundle is made to. */
const BUNDLE_LIMIT_MS = 60_000;

/**
 * Bundles one TypeScript entry of a plugin into `outFile`, an ES module that needs nothing but Node. "clawd/plugin" is
 * `sdkFile`. Nothing of the plugin runs. Files outside `folder` may come in through the SDK only: otherwise a plugin
 * could carry off a file of the person who installs it.
 */
export async function bundleEntry(
  folder: string,
  entry: string,
  outFile: string,
  sdkFile: string,
): Promise<Result<void>> {
  // Loaded here: most starts of the daemon install nothing.
  const { build, stop } = await import("esbuild");
  const root = await realpath(folder);
  const sdk = await realpath(sdkFile);
  try {
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), BUNDLE_LIMIT_MS);
    const building = build({
      entryPoints: [join(root, entry)],
      absWorkingDir: root,
      bundle: true,
      platform: "node",
      target: "node24",
      format: "esm",
      alias: { "clawd/plugin": sdk },
      // Packages that still use require find it here.
      banner: {
        js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
      },
      tsconfigRaw: "{}",
      legalComments: "none",
      logLevel: "silent",
      metafile: true,
      write: false,
    });
    const built = await Promise.race([building, late.promise]).finally(() => clearTimeout(timer));
    if (built === undefined) {
      // It runs in a process of its own, which ends with this; the next bundling starts another.
      building.catch(() => {});
      await stop();
      return fail("timed_out", `${entry} was not bundled within ${BUNDLE_LIMIT_MS / 1000} s`);
    }
    const stray = findStray(built.metafile.inputs, root, sdk);
    if (stray !== undefined) {
      return fail("invalid", `${entry} imports ${stray}, which is outside the plugin's folder`, {
        hint: "put what the plugin needs into its folder",
      });
    }
    const [output] = built.outputFiles;
    if (output === undefined) throw new Error("esbuild gave no output");
    await writeFile(outFile, output.contents);
    return ok(undefined);
  } catch (cause) {
    return fail("invalid", `${entry} cannot be bundled: ${sayBuildError(cause)}`, { cause });
  }
}

type Inputs = Readonly<
  Record<string, { readonly imports: readonly { readonly path: string; readonly external?: boolean }[] }>
>;

/** A file outside the folder that a file inside it imports, the SDK excepted. Input paths are relative to `root`. */
function findStray(inputs: Inputs, root: string, sdk: string): string | undefined {
  const inside = (path: string) => isInFolder(root, resolve(root, path));
  for (const [path, { imports }] of Object.entries(inputs)) {
    if (!inside(path)) continue;
    for (const target of imports) {
      if (target.external !== true && !inside(target.path) && resolve(root, target.path) !== sdk) return target.path;
    }
  }
  return undefined;
}

function sayBuildError(cause: unknown): string {
  const errors =
    cause instanceof Error && "errors" in cause && Array.isArray(cause.errors) ? (cause.errors as BuildMessage[]) : [];
  if (errors.length === 0) return cause instanceof Error ? cause.message : String(cause);
  return errors
    .slice(0, MAX_MESSAGES)
    .map(({ text, location }) => (location ? `${location.file}:${location.line}: ${text}` : text))
    .join("; ");
}

type BuildMessage = {
  readonly text: string;
  readonly location?: { readonly file: string; readonly line: number } | null;
};
