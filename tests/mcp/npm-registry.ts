import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export type Release = {
  readonly name: string;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  /** Files of the package, and what lies there: the path of a file on this machine. */
  readonly files: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
};

/** A registry of npm packages on the loopback, as npm sees one. */
export type NpmRegistry = {
  readonly url: string;
  publish(release: Release): Promise<void>;
  /** The value of "authorization" of the last request. */
  lastToken(): string | undefined;
  close(): Promise<void>;
};

export async function openNpmRegistry(): Promise<NpmRegistry> {
  const folder = await mkdtemp(join(tmpdir(), "npm-registry-"));
  const documents = new Map<string, { name: string; versions: Record<string, unknown>; "dist-tags": object }>();
  let token: string | undefined;
  const server = createServer((request, response) => {
    token = request.headers.authorization;
    const path = decodeURIComponent(request.url ?? "/").slice(1);
    const document = documents.get(path);
    if (document !== undefined) response.setHeader("content-type", "application/json").end(JSON.stringify(document));
    else if (path.endsWith(".tgz"))
      readFile(join(folder, path)).then(
        (bytes) => response.end(bytes),
        () => response.writeHead(404).end(),
      );
    else response.writeHead(404).end('{"error":"not found"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    async publish({ name, version, bin, files, scripts = {} }) {
      const manifest = { name, version, bin, scripts };
      const tarball = `${name.replaceAll(/[@/]/g, "_")}-${version}.tgz`;
      const staged = await mkdtemp(join(folder, "stage-"));
      await mkdir(join(staged, "package"));
      await writeFile(join(staged, "package", "package.json"), JSON.stringify(manifest));
      for (const [at, from] of Object.entries(files)) await cp(from, join(staged, "package", at));
      await run("tar", ["-czf", join(folder, tarball), "-C", staged, "package"]);
      const integrity = `sha512-${createHash("sha512")
        .update(await readFile(join(folder, tarball)))
        .digest("base64")}`;
      const before = documents.get(name)?.versions ?? {};
      const one = {
        ...manifest,
        hasInstallScript: "postinstall" in scripts,
        dist: { tarball: `${url}${tarball}`, integrity },
      };
      documents.set(name, { name, versions: { ...before, [version]: one }, "dist-tags": { latest: version } });
    },
    lastToken: () => token,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
