import { isInFolder } from "../../sandbox/permission/grant.ts";

/** What every sandbox shows when system programs may be run. */
const SYSTEM_FOLDERS = ["/usr", "/bin", "/sbin", "/lib"];

export function isOfSystem(path: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => isInFolder(folder, path));
}
