import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { FETCH_HINT, MAY_FETCH_LANGUAGES } from "./thoroughness.ts";

/** A Python that the sandbox can see, and the folders of packages that a plugin on gRPC needs. */
export type PythonHome =
  | { readonly ready: true; readonly python: string; readonly packages: readonly string[] }
  | { readonly ready: false; readonly missing: string };

const ROOT = resolve(import.meta.dirname, "../..");
/** The library for Python, as it lies in its folder. */
export const SDK_FOLDER = join(ROOT, "plugin-host/sdk-python");
/** Where packages are put once, for a run of the tests that was asked to fetch what it needs. */
const CACHE = join(ROOT, "node_modules/.cache/clawd-python");
const PACKAGES = ["grpcio==1.78.0", "protobuf==6.33.5", "pytest==8.4.2"];
const FETCH_TIMEOUT_MS = 300_000;

/** Prints the folders that hold what a plugin needs, a line each; fails where something is not there. */
const WHERE = `import grpc, google.protobuf, os, pytest
print("\\n".join(sorted({os.path.dirname(os.path.dirname(grpc.__file__)), os.path.dirname(os.path.dirname(os.path.dirname(google.protobuf.__file__)))})))`;

/**
 * Finds a Python with grpcio: CLAWD_TEST_PYTHON names one; otherwise it is the system's, with its own packages or, where
 * that is allowed, with packages that are fetched once into node_modules: before the first test begins (`fetch-python.ts`).
 */
export function findPythonHome(env: NodeJS.ProcessEnv): PythonHome {
  const python =
    env.CLAWD_TEST_PYTHON ?? ["/usr/bin/python3", "/usr/local/bin/python3"].find((path) => existsSync(path));
  if (python === undefined) return { ready: false, missing: "there is no /usr/bin/python3 here" };
  const own = packagesOf(python, {});
  if (own !== undefined) return { ready: true, python, packages: own };
  if (env.CLAWD_TEST_PYTHON !== undefined) {
    return { ready: false, missing: `${python} (CLAWD_TEST_PYTHON) has no grpcio, protobuf and pytest` };
  }
  const fetched = packagesOf(python, { PYTHONPATH: CACHE });
  const stamp = join(CACHE, "packages.txt");
  if (fetched !== undefined && existsSync(stamp) && readFileSync(stamp, "utf8") === PACKAGES.join(" ")) {
    return { ready: true, python, packages: [CACHE] };
  }
  if (!MAY_FETCH_LANGUAGES) return { ready: false, missing: `${python} has no grpcio and pytest; ${FETCH_HINT}` };
  mkdirSync(dirname(CACHE), { recursive: true });
  const fresh = mkdtempSync(`${CACHE}-fetching-`);
  const pip = [
    python,
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--target",
    fresh,
    ...PACKAGES,
  ];
  const { status, stderr } = run(pip, {});
  if (status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    return { ready: false, missing: `${pip.join(" ")} failed: ${stderr.trim().slice(-500)}` };
  }
  writeFileSync(join(fresh, "packages.txt"), PACKAGES.join(" "));
  rmSync(CACHE, { recursive: true, force: true });
  renameSync(fresh, CACHE);
  return { ready: true, python, packages: [CACHE] };
}

function packagesOf(python: string, env: Readonly<Record<string, string>>): readonly string[] | undefined {
  const { status, stdout } = run([python, "-c", WHERE], env);
  return status === 0 ? stdout.trim().split("\n") : undefined;
}

function run([program = "", ...args]: readonly string[], env: Readonly<Record<string, string>>) {
  const whole = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: process.env.HOME, LANG: "C.UTF-8", ...env };
  return spawnSync(program, args, { env: whole, encoding: "utf8", timeout: FETCH_TIMEOUT_MS });
}

/** The packages that `pip install --target FOLDER/vendor plugin-host/sdk-python` puts there. */
export function vendorInto(folder: string, packages: readonly string[]): void {
  const vendor = join(folder, "vendor");
  for (const from of [...packages, SDK_FOLDER]) {
    for (const name of ["clawd_plugin", "grpc", "google", "typing_extensions.py"]) {
      if (!existsSync(join(from, name))) continue;
      cpSync(join(from, name), join(vendor, name), {
        recursive: true,
        filter: (path) => !path.endsWith("__pycache__"),
      });
    }
  }
}
