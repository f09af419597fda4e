import { type Attack, granted, OUTSIDE, PRIVILEGED } from "../attack.ts";

const reads = (what: string, place: string): Attack => ({
  name: `reads ${what}`,
  code: `return open(P["${place}"]).read()`,
  control: OUTSIDE,
});

/** What lies on the disk. */
export const FILE_ATTACKS: readonly Attack[] = [
  reads("a private key of the person", "sshKey"),
  reads("credentials of a cloud", "awsKey"),
  reads("config.toml, with the keys of model providers in it", "config"),
  reads("the token of the gateway", "token"),
  reads("the journal of a session", "journal"),
  reads("its own grant", "grant"),
  reads("the program of another plugin", "victimProgram"),
  reads("the data of another plugin", "victimData"),
  reads("a file of the workspace that it was not granted", "workspaceFile"),
  {
    name: "reads a private key under Node",
    under: "node",
    code: `return load("node:fs").readFileSync(P.sshKey, "utf8")`,
    control: granted(`return load("node:fs").readFileSync("plugin.json", "utf8")`),
  },
  {
    name: "reads a private key with a program that it was granted",
    under: "node",
    code: `
      const { status, stdout } = load("node:child_process").spawnSync("python3", ["-c", "print(open('" + P.sshKey + "').read())"]);
      return status === 0 && String(stdout);`,
    control: granted(`return load("node:child_process").spawnSync("python3", ["-c", "print(6 * 7)"]).stdout`),
  },
  {
    name: "lists the plugins of clawd",
    code: `return [one for one in os.listdir(P["plugins"]) if one != "attacker"]`,
    control: OUTSIDE,
  },
  { name: "lists the artifacts of other plugins", code: `return os.listdir(P["artifacts"])`, control: OUTSIDE },
  { name: "lists the sockets of others", code: `return len(os.listdir(P["runtime"])) > 1`, control: OUTSIDE },
  {
    name: "lists the home of the person",
    code: `return [one for one in os.listdir(P["person"]) if one != ".clawd"]`,
    control: OUTSIDE,
  },
  {
    name: "writes a hook script, which would run in the daemon's name",
    code: `open(P["hooks"] + "/evil.ts", "w").write("x"); os.unlink(P["hooks"] + "/evil.ts"); return True`,
    control: OUTSIDE,
  },
  { name: "adds to the journal", code: `return open(P["journal"], "a") and True`, control: OUTSIDE },
  { name: "opens config.toml to write", code: `return open(P["config"], "r+") and True`, control: OUTSIDE },
  { name: "opens its grant to write", code: `return open(P["grant"], "r+") and True`, control: OUTSIDE },
  {
    name: "changes its own program",
    code: `return open(P["ownFolder"] + "/main.py", "a") and True`,
    control: OUTSIDE,
  },
  {
    name: "changes its own manifest",
    code: `return open(P["ownFolder"] + "/plugin.json", "r+") and True`,
    control: OUTSIDE,
  },
  {
    name: "makes a module beside its program",
    code: `open(P["ownFolder"] + "/json.py", "w"); os.unlink(P["ownFolder"] + "/json.py"); return True`,
    control: OUTSIDE,
  },
  {
    name: "puts a folder of its own in the place of its data",
    code: `os.rename(P["ownFolder"] + "/data", P["ownFolder"] + "/gone"); os.rename(P["ownFolder"] + "/gone", P["ownFolder"] + "/data"); return True`,
    control: OUTSIDE,
  },
  {
    name: "follows a link that it made",
    code: `
      link = P["ownFolder"] + "/data/link-to-key"
      if os.path.lexists(link): os.unlink(link)
      os.symlink(P["sshKey"], link)
      return open(link).read()`,
    control: OUTSIDE,
  },
  {
    name: "makes a second name for a file that is not its own",
    code: `
      link = P["ownFolder"] + "/data/key"
      os.link(P["sshKey"], link)
      got = open(link).read()
      os.unlink(link)
      return got`,
    control: OUTSIDE,
  },
  {
    name: "climbs out of its data through dots",
    code: `return open(P["ownFolder"] + "/data/../../victim/data/secret").read()`,
    control: OUTSIDE,
  },
  {
    name: "goes through the root of the first process",
    code: `return open("/proc/1/root" + P["sshKey"]).read()`,
    control: PRIVILEGED,
  },
  {
    name: "uses a descriptor that somebody left open",
    code: `
      for one in os.listdir("/proc/self/fd"):
          target = os.path.realpath("/proc/self/fd/" + one)
          if target.startswith(P["person"]) and not target.startswith(P["ownFolder"]): return target`,
    control: granted(`
      held = open(P["ownFolder"] + "/plugin.json")
      return [one for one in os.listdir("/proc/self/fd") if os.path.realpath("/proc/self/fd/" + one) == held.name]`),
  },
  { name: "reads the passwords of the system", code: `return open("/etc/shadow").read()`, control: PRIVILEGED },
  {
    name: "looks for devices of the machine",
    code: `
      usual = {"ptmx", "pts", "shm", "core", "fd", "stderr", "stdout", "stdin", "tty", "urandom", "random", "full", "zero", "null", "clawd"}
      return [one for one in os.listdir("/dev") if one not in usual and not one.startswith("mqueue")]`,
    control: OUTSIDE,
  },
  {
    name: "lists what the machine runs with",
    code: `return os.listdir("/run") + os.listdir("/sys")`,
    control: OUTSIDE,
  },
  { name: "writes to the programs of the system", code: `return os.access("/usr", os.W_OK)`, control: PRIVILEGED },
  {
    name: "changes what the kernel does, and so leaves the sandbox",
    code: `return os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)`,
    control: PRIVILEGED,
  },
  {
    name: "makes itself the last that is killed when memory is short",
    code: `return os.open("/proc/self/oom_score_adj", os.O_WRONLY)`,
    control: OUTSIDE,
  },
  {
    name: "has more of the machine's memory for shared files than it should",
    code: `
      size = lambda at: os.statvfs(at).f_blocks * os.statvfs(at).f_frsize
      return size("/dev/shm") > 64 << 20 or size("/tmp") > 512 << 20`,
    control: OUTSIDE,
  },
  {
    name: "hides a file in the memory that holds devices",
    code: `open("/dev/hoard", "w"); os.unlink("/dev/hoard"); return True`,
    control: PRIVILEGED,
  },
];
