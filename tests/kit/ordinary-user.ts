import { spawnSync } from "node:child_process";
import { join } from "node:path";

const NOBODY = { uid: 65_534, gid: 65_534 };
const SOURCE = join(import.meta.dirname, "ordinary-user.ts");
const READ = "require('node:fs').readFileSync(process.argv[1])";

/**
 * Whom to run a program as, so that it has no more rights than most: nobody when root runs the tests, else whoever does.
 * Undefined, with the reason printed, when that user could not even read our sources.
 */
export const ordinaryUser: { readonly uid?: number; readonly gid?: number } | undefined = findOrdinaryUser();

function findOrdinaryUser() {
  if (process.getuid?.() !== 0) return {};
  const { status } = spawnSync(process.execPath, ["-e", READ, SOURCE], { ...NOBODY, env: {} });
  if (status === 0) return NOBODY;
  console.warn(
    "skipped: what an ordinary user sees (the folder of this clone can be entered by root alone: chmod 755)",
  );
  return undefined;
}
