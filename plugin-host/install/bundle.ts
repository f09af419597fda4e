import { realpath, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isInFolder } from "../../sandbox/permission/grant.ts";
import { type Bundled, bundle } from "../../sandbox/program/bundler.ts";

const MAX_MESSAGES = 5;
/** A plugin that takes longer to bundle is made to. */
const BUNDLE_LIMIT_MS = 20_000;

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
  const root = await realpath(folder);
  const sdk = await realpath(sdkFile);
  const bundled = await bundle(
    {
      entryPoints: [join(root, entry)],
      // Only the ending counts: nothing is written there.
      outfile: join(root, "bundle.js"),
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
    },
    BUNDLE_LIMIT_MS,
  );
  if (!bundled.done) return unbundled(entry, bundled);
  const stray = findStray(bundled.inputs, root, sdk);
  if (stray !== undefined) {
    return fail("invalid", `${entry} imports ${stray}, which is outside the plugin's folder`, {
      hint: "put what the plugin needs into its folder",
    });
  }
  await writeFile(outFile, bundled.code);
  return ok(undefined);
}

function unbundled(entry: string, bundled: Exclude<Bundled, { readonly done: true }>): Result<never> {
  if (bundled.stopped !== undefined) {
    const why =
      bundled.stopped === "late" ? `was not bundled within ${BUNDLE_LIMIT_MS / 1000} s` : "breaks the bundler";
    return fail("timed_out", `${entry} ${why}`, { hint: "bundle it yourself, and name the bundle in launch.command" });
  }
  return fail("invalid", `${entry} cannot be bundled: ${sayErrors(bundled.errors)}`, {
    hint: "mend that, then install it again",
  });
}

type Inputs = Readonly<
  Record<string, { readonly imports: readonly { readonly path: string; readonly external?: boolean }[] }>
>;

/**
 * A file outside the folder that the SDK does not bring along. Not judged by what the plugin imports: esbuild does not tell
 * which files an `import("../" + name)` brought in. Input paths are relative to `root`.
 */
function findStray(inputs: Inputs, root: string, sdk: string): string | undefined {
  const ofSdk = new Set([relative(root, sdk)]);
  // What is added while it is walked is walked too.
  for (const path of ofSdk) {
    for (const target of inputs[path]?.imports ?? []) if (target.external !== true) ofSdk.add(target.path);
  }
  return Object.keys(inputs).find((path) => !isInFolder(root, resolve(root, path)) && !ofSdk.has(path));
}

function sayErrors(errors: Extract<Bundled, { readonly stopped: undefined }>["errors"]): string {
  return errors
    .slice(0, MAX_MESSAGES)
    .map(({ text, location }) => (location ? `${location.file}:${location.line}: ${text}` : text))
    .join("; ");
}
