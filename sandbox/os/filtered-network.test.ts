import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { openEgress } from "../egress/egress.ts";
import { forwarderPlace } from "../egress/fixtures/forwarder-file.ts";
import { type LocalNet, netGrant, openLocalNet } from "../egress/fixtures/local-net.ts";
import { closeInheritedDescriptors } from "./inherited-descriptors.ts";
import type { Launcher, LaunchSpec } from "./launcher.ts";
import { probeLauncher } from "./probe.ts";

// As the daemon does: what the runner of the tests leaves open is not the launcher's to close.
closeInheritedDescriptors();

const SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin";
const nodeBinary = process.execPath;
const { folder: root, forwarderFile } = forwarderPlace();
const socketsDir = join(root, "run");
const egress = openEgress({ ownAddresses: () => [], resolve: async () => ["127.0.0.2"] });
const door = { egress, forwarderFile, socketsDir };
const boxed = await probeLauncher({ searchPath: SEARCH_PATH, wanted: "auto", nodeBinary, door });
const bare = await probeLauncher({ searchPath: SEARCH_PATH, wanted: "none", nodeBinary, door });
const noBubblewrap = boxed.level !== "bubblewrap";
if (noBubblewrap) console.warn(`skipping the tests of the bubblewrap level: ${boxed.detail}`);

let net: LocalNet;
let port = 0;
const denied: string[] = [];
beforeEach(async () => {
  net = openLocalNet();
  denied.length = 0;
  port = await net.serve("127.0.0.2", (_, response) => response.end("reached"));
});
afterEach(() => net.close());
afterAll(() => egress.close());

function specOf(
  command: readonly [string, ...string[]],
  allow: readonly string[],
  change: Partial<LaunchSpec> & { system?: "programs" | "libraries" } = {},
): LaunchSpec {
  const { system = "programs", ...rest } = change;
  const network = { grant: netGrant(allow), onDenied: ({ hint }: { hint: string }) => void denied.push(hint) };
  const confinement = { read: [], write: [], network, system };
  return { cwd: "/tmp", env: { PATH: SEARCH_PATH }, confinement, limits: {}, pipes: 0, ...rest, command };
}

async function run(launcher: Launcher, spec: LaunchSpec, input = "") {
  const child = launcher.launch(spec);
  child.stdin.end(input);
  const [out, err, exit] = await Promise.all([text(child.stdout), text(child.stderr), child.exited]);
  return { out, err, exit };
}

/** A program that fetches each URL and prints status and text, or that it failed. */
const FETCHER = `for (const url of process.argv.slice(1)) {
  await fetch(url).then(
    async (response) => console.log(response.status, (await response.text()).split("\\n")[0]),
    () => console.log("failed"),
  );
}`;
const fetcher = (...urls: string[]) => [nodeBinary, "--input-type=module", "-e", FETCHER, "--", ...urls] as const;

describe.each([
  { name: "bubblewrap", launcher: boxed, skip: noBubblewrap },
  { name: "none", launcher: bare, skip: false },
])("on level $name", ({ launcher, skip }) => {
  test.skipIf(skip)("a child reaches the server that was granted and not the other", async () => {
    const other = await net.serve("127.0.0.3", (_, response) => response.end("must not be reached"));
    const urls = [
      `http://good.test:${port}/`,
      `http://127.0.0.2:${port}/`,
      `http://127.0.0.3:${other}/`,
      "http://x.org/",
    ];
    const { out, err } = await run(launcher, specOf(fetcher(...urls), [`good.test:${port}`, `127.0.0.2:${port}`]));
    expect(err).toBe("");
    expect(out.split("\n").slice(0, 4)).toEqual(["200 reached", "200 reached", "failed", "failed"]);
    expect(net.visits.map(({ at }) => at)).toEqual(["127.0.0.2", "127.0.0.2"]);
    expect(denied).toEqual([`grant it with --allow-net=127.0.0.3:${other}`, "grant it with --allow-net=x.org:80"]);
  });

  test.skipIf(skip)("the variables name the proxy, and the child's own loopback goes past it", async () => {
    const own = `require("node:http").createServer((q, r) => r.end("mine")).listen(0, "127.0.0.1", async function () {
      console.log(await (await fetch("http://127.0.0.1:" + this.address().port)).text());
      console.log(JSON.stringify(process.env));
      process.exit(0);
    })`;
    const { out } = await run(launcher, specOf([nodeBinary, "-e", own], ["example.com"]));
    const [said, variables = "{}"] = out.split("\n");
    expect(said).toBe("mine");
    const env: Record<string, string> = JSON.parse(variables);
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"])
      expect(env[name]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(env).toMatchObject({ NO_PROXY: "localhost,127.0.0.1,::1", no_proxy: "localhost,127.0.0.1,::1" });
  });

  test.skipIf(skip)("its proxy is there from its first moment on, and gone with it", async () => {
    const grant = [`127.0.0.2:${port}`];
    const child = launcher.launch(specOf(["/bin/sh", "-c", "echo $HTTP_PROXY; cat"], grant));
    const said = String((await child.stdout[Symbol.asyncIterator]().next()).value);
    expect(said).toMatch(/^http:/);
    if (launcher === boxed) {
      expect(statSync(socketsDir).mode & 0o777).toBe(0o700);
      expect(readdirSync(socketsDir)).toHaveLength(1);
    }
    child.kill();
    await child.exited;
    if (launcher === boxed) expect(readdirSync(socketsDir)).toEqual([]);
    else {
      const client = connect(Number(new URL(said).port), "127.0.0.1");
      expect(
        await new Promise((resolve) => client.once("error", (error) => resolve("code" in error && error.code))),
      ).toBe("ECONNREFUSED");
    }
  });

  test.skipIf(skip)("streams, pipes and exit codes are the command's own", async () => {
    const script = 'cat; read -r word <&3; echo "heard $word" >&3; echo err >&2; cd /proc/self/fd; echo [0-9]*; exit 7';
    const child = launcher.launch(specOf(["/bin/sh", "-c", script], ["x.org"], { pipes: 1 }));
    child.stdin.end("input\n");
    child.pipes[0]?.write("hello\n");
    const [out, err, exit, pipe] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      child.exited,
      text(child.pipes[0] ?? child.stdout),
    ]);
    // The shell lists the folder through a descriptor of its own.
    expect(out).toMatch(/^input\n0 1 2 3 \d+\n$/);
    expect({ err, exit, pipe }).toEqual({ err: "err\n", exit: { code: 7, signal: null }, pipe: "heard hello\n" });
  });

  test.skipIf(skip)("terminate reaches the command", async () => {
    const script = 'trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.05; done';
    const child = launcher.launch(specOf(["/bin/sh", "-c", script], ["x.org"]));
    const chunks = child.stdout[Symbol.asyncIterator]();
    expect(String((await chunks.next()).value)).toBe("ready\n");
    child.terminate();
    expect(String((await chunks.next()).value)).toBe("bye\n");
    expect(await child.exited).toEqual({ code: 3, signal: null });
  });

  test.skipIf(skip)("and so does interrupt", async () => {
    const script = 'trap "echo stop; exit 4" INT; echo ready; while :; do sleep 0.05; done';
    const child = launcher.launch(specOf(["/bin/sh", "-c", script], ["x.org"]));
    const chunks = child.stdout[Symbol.asyncIterator]();
    expect(String((await chunks.next()).value)).toBe("ready\n");
    child.interrupt();
    expect(String((await chunks.next()).value)).toBe("stop\n");
    expect(await child.exited).toEqual({ code: 4, signal: null });
  });
});

describe.skipIf(noBubblewrap)("in the sandbox", () => {
  test("past the proxy there is nothing", async () => {
    const script = `
      const { connect } = require("node:net");
      const dial = (...to) => new Promise((resolve) =>
        connect(...to).on("connect", () => resolve("connected")).on("error", (error) => resolve(error.code)));
      (async () => {
        console.log(await dial(${port}, "127.0.0.2"), await dial(80, "93.184.216.34"), await dial(53, "1.1.1.1"));
        console.log(await new Promise((resolve) => require("node:dns").lookup("good.test", (error) => resolve(error?.code))));
      })()`;
    const { out } = await run(boxed, specOf([nodeBinary, "-e", script], [`good.test:${port}`, `127.0.0.2:${port}`]));
    expect(out).toMatch(/^ECONNREFUSED ENETUNREACH ENETUNREACH\n(EAI_AGAIN|ENOTFOUND)\n$/);
    expect(net.visits).toEqual([]);
  });

  test("SOCKS and tunnels of other protocols work too", async () => {
    const echo = await net.listen(
      createServer((client) => client.on("error", () => {}).pipe(client)),
      "127.0.0.2",
    );
    const script = `
      const { connect } = require("node:net");
      const client = connect(new URL(process.env.ALL_PROXY).port, "127.0.0.1");
      const name = Buffer.from("good.test"), at = Buffer.alloc(2);
      at.writeUInt16BE(${echo});
      client.write(Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]), name, at, Buffer.from("over socks")]));
      let heard = "";
      client.on("data", (data) => { heard += data.toString("latin1"); if (heard.length >= 22) client.end(); });
      client.on("end", () => console.log(heard.slice(12)));`;
    const { out } = await run(boxed, specOf([nodeBinary, "-e", script], [`good.test:${echo}`, `127.0.0.2:${echo}`]));
    expect(out).toBe("over socks\n");
  });

  test("one child's proxy is not another's", async () => {
    const slow = boxed.launch(specOf(["/bin/sh", "-c", "echo up; cat"], [`127.0.0.2:${port}`]));
    await slow.stdout[Symbol.asyncIterator]().next();
    const look = `ls /dev/clawd; ls -d ${socketsDir} ${root}; /dev/clawd/node --input-type=module -e '${FETCHER}' -- http://127.0.0.2:${port}/`;
    const { out, err } = await run(boxed, specOf(["/bin/sh", "-c", look], ["x.org"]));
    expect(out).toMatch(/^forwarder\.cjs\n(landlock\n)?node\nproxy\.sock\nfailed\n$/);
    expect(err).toContain("No such file");
    slow.kill();
    await slow.exited;
    expect(net.visits).toEqual([]);
  });

  test("what was granted of the machine's loopback is what the child's loopback names mean", async () => {
    const { out } = await run(boxed, specOf(fetcher(`http://127.0.0.2:${port}/`), ["127.0.0.0/8"]));
    expect(out).toBe("200 reached\n");
    const script = 'echo "<$NO_PROXY>"';
    expect((await run(boxed, specOf(["/bin/sh", "-c", script], ["localhost:80"]))).out).toBe("<>\n");
  });

  test("a child with libraries only, and one with tight limits, has its network too", async () => {
    const url = `http://127.0.0.2:${port}/`;
    const libraries = specOf(fetcher(url), [`127.0.0.2:${port}`], { system: "libraries" });
    expect((await run(boxed, libraries)).out).toBe("200 reached\n");
    const limits = { dataMib: 16, processes: 3, openFiles: 64, fileMib: 1 };
    const tight = specOf(["/bin/sh", "-c", "echo $HTTP_PROXY; ulimit -n"], ["x.org"], { limits });
    expect((await run(boxed, tight)).out).toBe("http://127.0.0.1:3128\n64\n");
  });

  test("a child that is shown everything sees its proxy, and no other socket of the machine", async () => {
    const spec = specOf(fetcher(`http://127.0.0.2:${port}/`), [`127.0.0.2:${port}`]);
    const everything = { ...spec, confinement: { ...spec.confinement, read: ["/"], hide: [socketsDir] } };
    expect((await run(boxed, everything)).out).toBe("200 reached\n");
  });

  test("a command that kills its forwarder ends itself", async () => {
    const { out, exit } = await run(
      boxed,
      specOf(["/bin/sh", "-c", "echo up; kill -9 $PPID; sleep 5; echo late"], ["x.org"]),
    );
    expect(out).toBe("up\n");
    expect(exit.code).toBe(137);
  });

  test("a command that cannot be started says so", async () => {
    const broken = join(root, "broken");
    writeFileSync(broken, "#!/no/such/interpreter\n", { mode: 0o755 });
    const { err, exit } = await run(boxed, specOf([broken], ["x.org"]));
    expect(err).toContain(`${broken}: `);
    expect(exit.code).toBe(126);
  });

  test("what a killed daemon left behind is cleared, and nothing but that", async () => {
    const stale = join(root, "stale-run");
    mkdirSync(join(stale, "p-left"), { recursive: true });
    const again = await probeLauncher({
      ...{ searchPath: SEARCH_PATH, wanted: "auto", nodeBinary },
      door: { ...door, socketsDir: stale },
    });
    expect((await run(again, specOf(["true"], ["x.org"]))).exit.code).toBe(0);
    expect(readdirSync(stale)).toEqual([]);
    expect(() => again.launch(specOf(["true"], ["x.org"], { cwd: "/no/folder" }))).toThrow("does not exist");
    expect(readdirSync(stale)).toEqual([]);
  });
});

test("without a door no child gets a filtered network", async () => {
  const closed = await probeLauncher({ searchPath: SEARCH_PATH, wanted: "none", nodeBinary });
  expect(() => closed.launch(specOf(["true"], ["x.org"]))).toThrow(
    "a filtered network was asked for where none was set up",
  );
  expect(closed.detail).toContain("a network grant is advice");
});
