import { statSync } from "node:fs";
import { dirname, extname, join, relative } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Command } from "./launch.ts";

/** Programs whose first argument is the program proper. */
const INTERPRETERS = new Set(["node", "deno", "bun", "python3", "python", "sh", "bash", "ruby", "perl", "php", "lua"]);
const SCRIPT = /^[^-].*\.(ts|mts|js|mjs|cjs|py|sh|rb|pl|php|lua)$/;
const LIBRARIES = new Set([".so", ".dylib", ".dll"]);

/** Looks whether the file that a command starts is there. Nothing is read of it. */
export function checkEntryPoint(command: Command, folder: string, manifestFile: string): Result<void> {
  const entry = entryPointOf(command);
  if (entry === undefined) return ok(undefined);
  const path = join(folder, entry);
  if (!isFile(path)) {
    return fail("invalid", `Plugin entry point not found: ${path}`, {
      hint: `${sayBuild(folder)} or put it there, or name another in ${manifestFile}`,
    });
  }
  if (!LIBRARIES.has(extname(entry))) return ok(undefined);
  return fail("invalid", `${manifestFile}: the entry point ${entry} is a library`, {
    hint: "a plugin is a program of its own: wrap the library in one",
  });
}

/** Where the sources lie in the plugin's folder or around it, what builds them. */
const BUILDS = [
  { file: "go.mod", command: (into: string) => `CGO_ENABLED=0 go build -trimpath -o ${into}/ .` },
  { file: "Cargo.toml", command: (into: string) => `cargo install --path . --root ${into} --no-track --force` },
] as const;

function sayBuild(folder: string): string {
  for (const sources of [dirname(folder), folder]) {
    const build = BUILDS.find(({ file }) => isFile(join(sources, file)));
    if (build !== undefined) return `build it: cd ${sources} && ${build.command(relative(sources, folder) || ".")};`;
  }
  return "build the plugin";
}

/** The file inside the plugin's folder that is started; undefined when the command does not tell. */
function entryPointOf([program, first]: Command): string | undefined {
  if (program.startsWith("/")) return undefined;
  if (program.includes("/")) return program;
  const isScript = first !== undefined && !first.startsWith("/") && SCRIPT.test(first);
  return INTERPRETERS.has(program) && isScript ? first : undefined;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
