import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32 } from "node:zlib";

export type Wheel = {
  readonly name: string;
  readonly version: string;
  /** Its console scripts, `module:function` each. */
  readonly programs: Readonly<Record<string, string>>;
  /** Files of the package, by their paths. */
  readonly files: Readonly<Record<string, string>>;
  /** Lines of its metadata beyond name and version. */
  readonly metadata?: readonly string[];
};

/** An index of Python's packages on the loopback, as PEP 503 has it. */
export type PythonIndex = {
  readonly url: string;
  publish(wheel: Wheel): void;
  /** A source archive alone, which would have to be built. */
  publishSource(name: string, version: string): void;
  /** The value of "authorization" of the last request. */
  lastLogin(): string | undefined;
  close(): Promise<void>;
};

export async function openPythonIndex(): Promise<PythonIndex> {
  const files = new Map<string, { readonly name: string; readonly bytes: Buffer }>();
  let login: string | undefined;
  const server = createServer((request, response) => {
    login = request.headers.authorization;
    const path = decodeURIComponent(request.url ?? "/").replace(/^\//, "");
    const file = files.get(path.replace(/^files\//, ""));
    if (path.startsWith("files/") && file !== undefined) {
      response.end(file.bytes);
      return;
    }
    const [, name] = /^simple\/([^/]+)\/$/.exec(path) ?? [];
    const links = [...files].flatMap(([at, one]) => {
      const sha256 = createHash("sha256").update(one.bytes).digest("hex");
      return one.name === name ? [`<a href="/files/${at}#sha256=${sha256}">${at}</a><br>`] : [];
    });
    response.setHeader("content-type", "text/html");
    if (links.length === 0) response.writeHead(404).end();
    else response.end(`<!DOCTYPE html><html><body>${links.join("\n")}</body></html>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple/`,
    publish(wheel) {
      const file = `${wheel.name.replaceAll("-", "_")}-${wheel.version}-py3-none-any.whl`;
      files.set(file, { name: wheel.name, bytes: wheelOf(wheel) });
    },
    publishSource(name, version) {
      files.set(`${name.replaceAll("-", "_")}-${version}.tar.gz`, { name, bytes: Buffer.from("not looked at") });
    },
    lastLogin: () => login,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function wheelOf({ name, version, programs, files, metadata = [] }: Wheel): Buffer {
  const info = `${name.replaceAll("-", "_")}-${version}.dist-info`;
  const scripts = Object.entries(programs).map(([program, target]) => `${program} = ${target}`);
  const all: Record<string, string> = {
    ...files,
    [`${info}/METADATA`]: ["Metadata-Version: 2.1", `Name: ${name}`, `Version: ${version}`, ...metadata, ""].join("\n"),
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    [`${info}/entry_points.txt`]: `[console_scripts]\n${scripts.join("\n")}\n`,
  };
  const record = [...Object.keys(all), `${info}/RECORD`].map((path) => `${path},,\n`).join("");
  return zipOf({ ...all, [`${info}/RECORD`]: record });
}

/** Files as they are, none of them packed. */
function zipOf(files: Readonly<Record<string, string>>): Buffer {
  const bodies: Buffer[] = [];
  const listed: Buffer[] = [];
  let at = 0;
  for (const [path, text] of Object.entries(files)) {
    const [name, data] = [Buffer.from(path), Buffer.from(text)];
    // Version, flags, method, time, date, then what is the same in both headers.
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(0x21, 8);
    head.writeUInt32LE(crc32(data), 10);
    head.writeUInt32LE(data.length, 14);
    head.writeUInt32LE(data.length, 18);
    head.writeUInt16LE(name.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    tail.writeUInt32LE(at, 10);
    listed.push(Buffer.from("PK\u0001\u0002\u0014\u0000", "latin1"), head, tail, name);
    bodies.push(Buffer.from("PK\u0003\u0004", "latin1"), head, name, data);
    at += 30 + name.length + data.length;
  }
  const list = Buffer.concat(listed);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(files).length, 4);
  end.writeUInt16LE(Object.keys(files).length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...bodies, list, Buffer.from("PK\u0005\u0006", "latin1"), end]);
}
