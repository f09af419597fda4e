import type * as Esbuild from "esbuild";
import { oneByOne } from "../../core/domain/one-by-one.ts";

/** What came of a bundling; `stopped` when the bundler broke on it, or had to be stopped because it took too long. */
export type Bundled =
  | { readonly done: true; readonly code: string; readonly map: string; readonly inputs: Esbuild.Metafile["inputs"] }
  | { readonly done: false; readonly stopped: "late" | "broken" }
  | { readonly done: false; readonly stopped: undefined; readonly errors: readonly Esbuild.Message[] };

/** How long the bundler's process is kept without work, milliseconds. */
const IDLE_MS = 10_000;

const inTurn = oneByOne();
let idle: NodeJS.Timeout | undefined;

function errorsOf(cause: unknown): readonly Esbuild.Message[] | undefined {
  const { errors } = Object(cause) as { errors?: readonly Esbuild.Message[] };
  return Array.isArray(errors) && errors.length > 0 ? errors : undefined;
}

async function build(esbuild: typeof Esbuild, options: Esbuild.BuildOptions, limitMs: number): Promise<Bundled> {
  const late = Promise.withResolvers<Bundled>();
  const timer = setTimeout(() => late.resolve({ done: false, stopped: "late" }), limitMs);
  const built = esbuild.build({ ...options, metafile: true, write: false }).then(
    ({ outputFiles, metafile: { inputs } }): Bundled => {
      const text = (ending: string) => outputFiles.find((file) => file.path.endsWith(ending))?.text ?? "";
      return { done: true, code: text(".js"), map: text(".map"), inputs };
    },
    (cause): Bundled => {
      const errors = errorsOf(cause);
      return errors ? { done: false, stopped: undefined, errors } : { done: false, stopped: "broken" };
    },
  );
  const outcome = await Promise.race([built, late.promise]);
  clearTimeout(timer);
  // Its process is killed, or dead already: the next bundling gets a new one.
  if (!outcome.done && outcome.stopped !== undefined) await esbuild.stop();
  return outcome;
}

/**
 * Bundles in esbuild's own process, one program at a time, so that what breaks or delays the bundler is known. The
 * process is started on first need and ends after a while without work; past `limitMs` it is killed.
 */
export function bundle(options: Esbuild.BuildOptions, limitMs: number): Promise<Bundled> {
  clearTimeout(idle);
  return inTurn(async () => {
    // Loaded on first need: the daemon starts without it.
    const esbuild = await import("esbuild");
    const outcome = await build(esbuild, options, limitMs);
    clearTimeout(idle);
    idle = setTimeout(() => void esbuild.stop(), IDLE_MS).unref();
    return outcome;
  });
}
