import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { homeAt, makeHome } from "./home.ts";
import { buildHouse } from "./wire.ts";

test("where a door cannot be opened, the rooms behind it are closed again: nobody reaches the port of remote plugins", async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "clawd-wire-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const home = homeAt(join(dir, "home"), dir);
  await makeHome(home);
  writeFileSync(
    join(home.dir, "config.toml"),
    `[gateway]\nport = ${port}\n[sandbox]\nlevel = "none"\n[remote]\nlisten = "127.0.0.1:0"\n`,
  );
  const log: string[] = [];
  const built = await buildHouse(home, {
    env: { HOME: dir, PATH: process.env.PATH },
    now: Date.now,
    ticks: () => performance.now(),
    pid: process.pid,
    version: "0.0.0",
    programs: dir,
    nodeBinary: process.execPath,
    nodeVersion: process.version,
    addonFile: join(dir, "none.node"),
    log: (line) => log.push(line),
    complain: (cause) => log.push(String(cause)),
    shutdown: () => {},
  });
  expect(built).toMatchObject({ ok: false, failure: { message: expect.stringContaining(String(port)) } });
  const dialIn = () => /may dial in at 127\.0\.0\.1:(\d+)/.exec(log.join("\n"))?.[1];
  await expect.poll(dialIn).toBeDefined();
  const stranger = connect(Number(dialIn()), "127.0.0.1");
  const reached = await once(stranger, "connect").then(
    () => "connected",
    (cause: unknown) => cause,
  );
  stranger.destroy();
  expect(reached).toMatchObject({ code: "ECONNREFUSED" });
});
