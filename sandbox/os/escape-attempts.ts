/** What a trial tells its prisoner: things outside that must be out of reach. */
export type EscapeTargets = {
  /** A file that was not granted. */
  readonly file: string;
  /** A folder that was not granted. */
  readonly folder: string;
  /** A socket that the trial listens on. */
  readonly socket: string;
  /** A loopback port that the trial listens on. */
  readonly port: number;
  /** The daemon's own process. */
  readonly pid: number;
  /** More memory than the prisoner may have, MiB; 0 when its memory is not limited. */
  readonly tooMuchMib: number;
};

/** One attempt; `got` says what came of it. */
export type EscapeAttempt = { readonly what: string; readonly escaped: boolean; readonly got: string };

/**
 * Tries to get out and prints what came of it, one JSON line an attempt. Its text is what the prisoner runs, so it uses
 * nothing from outside of itself.
 */
export async function attemptEscape(targets: EscapeTargets): Promise<void> {
  const fs = process.getBuiltinModule("node:fs");
  const net = process.getBuiltinModule("node:net");
  const { spawn, spawnSync } = process.getBuiltinModule("node:child_process");

  function report(what: string, escaped: boolean, got: unknown): void {
    const { code, message } = Object(got) as { code?: string; message?: string };
    console.log(JSON.stringify({ what, escaped, got: code ?? message ?? String(got) }));
  }

  function attempt(what: string, act: () => unknown): void {
    try {
      report(what, true, act());
    } catch (error) {
      report(what, false, error);
    }
  }

  function connect(what: string, to: { port: number; host: string } | { path: string }): Promise<void> {
    return new Promise((resolve) => {
      const done = (escaped: boolean, got: unknown) => {
        report(what, escaped, got);
        resolve();
      };
      try {
        const socket = net.connect(to, () => {
          socket.destroy();
          done(true, "connected");
        });
        socket.on("error", (error) => done(false, error));
      } catch (error) {
        done(false, error);
      }
    });
  }

  attempt("read a file outside", () => fs.readFileSync(targets.file, "utf8").length);
  attempt("list a folder outside", () => fs.readdirSync(targets.folder).length);
  attempt("write a file outside", () => fs.writeFileSync(`${targets.folder}/escaped`, "x"));
  attempt("signal the daemon", () => process.kill(targets.pid, 0));
  attempt("read the environment it was started from", () => {
    const names = fs
      .readFileSync("/proc/1/environ", "utf8")
      .split("\0")
      .filter((entry) => entry !== "" && !/^(?:CLAWD_LEASE|PWD)=/.test(entry));
    if (names.length === 0) throw new Error("empty");
    return names.length;
  });
  attempt("hold a privilege", () => {
    const effective = /^CapEff:\s*(\w+)$/m.exec(fs.readFileSync("/proc/self/status", "utf8"))?.[1];
    if (Number.parseInt(effective ?? "1", 16) === 0) throw new Error("none");
    return effective;
  });
  attempt("turn the filter of system calls off", () => {
    const filter = /^Seccomp:\s*(\d)$/m.exec(fs.readFileSync("/proc/self/status", "utf8"))?.[1];
    if (filter === "2") throw new Error("in force");
    return "there is none";
  });
  if (targets.tooMuchMib > 0) {
    attempt("take more memory than it may", () => {
      const held: Buffer[] = [];
      for (let mib = 0; mib < targets.tooMuchMib; mib += 64) held.push(Buffer.alloc(64 * 1024 * 1024, 1));
      return held.length;
    });
    attempt("start a process", () => {
      const { error } = spawnSync(process.execPath, ["--version"]);
      if (error) throw error;
    });
  } else {
    // It keeps the trial's pipe open for as long as it lives, which is not long even where nothing ends it.
    spawn(process.execPath, ["-e", "setTimeout(() => {}, 5000)"], {
      detached: true,
      stdio: ["ignore", "ignore", "ignore", 3],
      env: {},
    })
      .on("error", () => {})
      .unref();
  }
  await connect("reach a port of this machine", { port: targets.port, host: "127.0.0.1" });
  await connect("reach a socket of this machine", { path: targets.socket });
  process.exit(0);
}
