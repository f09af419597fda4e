/**
 * Why clawd does not run on a system; undefined where it does. On Windows nothing would hold strangers' code: there is no
 * sandbox there that it could put children into, no unix sockets of one owner, and no process groups.
 */
export function platformRefusal(platform: NodeJS.Platform): string | undefined {
  if (platform !== "win32") return undefined;
  return "clawd does not run on Windows, where nothing would confine plugins, hooks and commands.\n  Run it in WSL 2: wsl --install, then install it there as on Linux\n";
}
