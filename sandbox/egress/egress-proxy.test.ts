import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { grantJudge } from "./address-judge.ts";
import { type Egress, openEgress } from "./egress.ts";
import { createEgressProxy, type DeniedConnection, type EgressProxy } from "./egress-proxy.ts";
import { type LocalNet, netGrant, openLocalNet } from "./fixtures/local-net.ts";

let net: LocalNet;
let egress: Egress;
let folder: string;
let socket: string;
let denied: DeniedConnection[];
const proxies: EgressProxy[] = [];

beforeEach(() => {
  net = openLocalNet();
  denied = [];
  egress = openEgress({
    ownAddresses: () => [],
    async resolve(host) {
      if (host === "good.test" || host === "other.test") return ["127.0.0.2"];
      throw new Error("ENOTFOUND");
    },
  });
  folder = mkdtempSync(join(tmpdir(), "clawd-proxy-"));
  socket = join(folder, "s");
});
afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.close();
  egress.close();
  net.close();
  rmSync(folder, { recursive: true });
});

function open(...allow: string[]): EgressProxy {
  const proxy = createEgressProxy({
    egress,
    judge: grantJudge(netGrant(allow)),
    onDenied: (connection) => denied.push(connection),
  });
  proxies.push(proxy);
  proxy.listenAt(socket);
  return proxy;
}

/** Says something to the proxy and gives all that comes back. */
async function say(words: string | Uint8Array): Promise<string> {
  const client = connect(socket);
  client.end(words);
  return text(client);
}

/** An echo with a greeting; it ends when its client ends. */
const echo = () =>
  net.listen(
    createServer((client) => {
      client.write("welcome ");
      client.on("error", () => client.destroy()).pipe(client);
    }),
    "127.0.0.2",
  );

describe("CONNECT", () => {
  test("opens a tunnel to what was granted, and what was said too early arrives", async () => {
    const port = await echo();
    open(`good.test:${port}`, `127.0.0.2:${port}`);
    const heard = await say(`CONNECT good.test:${port} HTTP/1.1\r\nHost: x\r\n\r\nearly words`);
    expect(heard).toBe("HTTP/1.1 200 Connection Established\r\n\r\nwelcome early words");
    expect(denied).toEqual([]);
  });

  test.each([
    ["another port", "127.0.0.2:1"],
    ["another host", "other.test:PORT"],
    ["the address itself, which only its name was granted for", "127.0.0.3:PORT"],
    ["a private address", "10.0.0.1:PORT"],
    ["the metadata service", "169.254.169.254:80"],
    ["the same by a number", "2852039166:80"],
    ["this machine in IPv6", "[::1]:PORT"],
    ["this machine in disguise", "[::ffff:127.0.0.1]:PORT"],
  ])("to %s is denied, with the flag in the answer and in the log", async (_, target) => {
    const port = await echo();
    open(`good.test:${port}`, `127.0.0.2:${port}`);
    const heard = await say(`CONNECT ${target.replace("PORT", String(port))} HTTP/1.1\r\n\r\n`);
    expect(heard).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(heard).toMatch(/clawd: net=\S+ is not granted \(grant it with --allow-net=\S+\)\n$/);
    expect(denied).toMatchObject([{ hint: expect.stringContaining("--allow-net=") }]);
  });

  test.each([
    "good.test",
    "good.test:0",
    "good.test:99999",
    ":80",
    "http://good.test:80/",
    "a b:80",
    "a@b:80",
    "a/b:80",
  ])("%s is no place to connect to", async (target) => {
    open("");
    expect(await say(`CONNECT ${target} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("a name that does not exist, and a port where nobody listens, are a bad gateway", async () => {
    const port = await echo();
    net.close();
    open("", "127.0.0.2");
    expect(await say("CONNECT gone.test:80 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 502 .*gone\.test was not found/s);
    expect(await say(`CONNECT 127.0.0.2:${port} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 502 .*ECONNREFUSED/s);
  });

  test("what the server sends last arrives although the client ended first", async () => {
    const large = Buffer.alloc(3_000_000, "x");
    const server = createServer({ allowHalfOpen: true }, (client) => {
      client.resume().on("end", () => client.end(large));
    });
    const port = await net.listen(server, "127.0.0.2");
    open("127.0.0.2");
    const heard = await say(`CONNECT 127.0.0.2:${port} HTTP/1.1\r\n\r\ndone`);
    expect(heard.length).toBe("HTTP/1.1 200 Connection Established\r\n\r\n".length + large.byteLength);
  });
});

/** One plain request through the proxy. */
function ask(path: string, headers: Record<string, string> = {}, body?: string) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const asking = httpRequest({ socketPath: socket, path, headers, method, agent: false }, (response) => {
      const { statusCode: status = 0, headers: all } = response;
      text(response).then((said) => resolve({ status, headers: all, body: said }), reject);
    });
    asking.on("error", reject).end(body);
  });
}

describe("plain http", () => {
  test("is passed on with a framing and a host of our own", async () => {
    const port = await net.serve("127.0.0.2", (_, response) => {
      response.writeHead(200, {
        "X-Answer": "1",
        "Proxy-Connection": "keep-alive",
        Connection: "x-secret",
        "X-Secret": "1",
      });
      response.end("answer");
    });
    open("good.test", "127.0.0.2");
    const headers = {
      ...{
        Host: "evil.test",
        "Proxy-Authorization": "Basic x",
        "X-Mine": "1",
        "X-Hop": "1",
        Connection: "x-hop, close",
      },
      ...{ "Transfer-Encoding": "chunked", TE: "trailers", Upgrade: "h2c" },
    };
    const answer = await ask(`http://good.test:${port}/a?b=c#d`, headers, "body");
    expect(answer).toMatchObject({ status: 200, body: "answer", headers: { "x-answer": "1" } });
    expect(answer.headers).not.toHaveProperty("x-secret");
    expect(answer.headers).not.toHaveProperty("proxy-connection");
    const [visit] = net.visits;
    expect(visit?.body).toBe("body");
    expect(visit?.request.url).toBe("/a?b=c");
    expect(visit?.request.headers).toEqual({
      host: `good.test:${port}`,
      "x-mine": "1",
      connection: "close",
      "transfer-encoding": "chunked",
    });
  });

  test.each([
    ["http://other.test:PORT/", 403],
    ["http://127.1:PORT/", 403],
    ["http://0x7f000001:PORT/", 403],
    ["https://good.test:PORT/", 400],
    ["ftp://good.test:PORT/", 400],
    ["http://me:pass@good.test:PORT/", 400],
    ["/no/host", 400],
  ])("%s gets %i", async (place, status) => {
    const port = await net.serve("127.0.0.2", (_, response) => response.end("reached"));
    open("good.test", "127.0.0.2");
    expect(await ask(place.replace("PORT", String(port)))).toMatchObject({ status });
    expect(net.visits).toEqual([]);
  });

  test.each([
    "GET http://good.test:PORT/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /two HTTP/1.1\r\n\r\n",
    "GET http://good.test:PORT/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "GET http://good.test:PORT/ HTTP/1.1\r\nHost: x\r\nX-A: b\r\n Content-Length: 4\r\n\r\n",
    "GET http://good.test:PORT/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "GET http://good.test:PORT/\r\n\r\n",
  ])("%j is not passed on", async (words) => {
    const port = await net.serve("127.0.0.2", (_, response) => response.end("reached"));
    open("good.test", "127.0.0.2");
    expect(await say(words.replaceAll("PORT", String(port)))).not.toContain("reached");
    expect(net.visits).toEqual([]);
  });

  test("a server's strange words for a status do no harm", async () => {
    const words = "HTTP/1.1 200 \u0001\r\nContent-Length: 2\r\n\r\nok";
    const port = await net.listen(
      createServer((client) => client.on("error", () => {}).end(words)),
      "127.0.0.2",
    );
    open("127.0.0.2");
    expect(await ask(`http://127.0.0.2:${port}/`)).toMatchObject({ status: 200, body: "ok" });
  });

  test("two requests on one connection are judged each", async () => {
    const port = await net.serve("127.0.0.2", (_, response) => response.end("reached"));
    open("good.test", "127.0.0.2");
    const line = (host: string) => `GET http://${host}:${port}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    const client = connect(socket);
    client.write(line("good.test") + line("other.test"));
    const heard = await text(client);
    expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 403"]);
    expect(net.visits).toHaveLength(1);
  });

  test.each([
    "",
    "no protocol\r\n\r\n",
    "HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    `HTTP/1.1 200 OK\r\n${"X-A: b\r\n".repeat(20_000)}\r\n`,
  ])("a server that says %j is a bad gateway", async (words) => {
    const port = await net.listen(
      createServer((client) => client.on("error", () => {}).end(words)),
      "127.0.0.2",
    );
    open("127.0.0.2");
    expect(await ask(`http://127.0.0.2:${port}/`)).toMatchObject({ status: 502 });
  });
});

describe("SOCKS", () => {
  const greeting = [5, 1, 0];
  const byName = (name: string, port: number) => [5, 1, 0, 3, name.length, ...Buffer.from(name), port >> 8, port & 255];

  async function greet(words: readonly number[], then = ""): Promise<Buffer> {
    const client = connect(socket);
    client.write(Uint8Array.from(words));
    client.end(then);
    return buffer(client);
  }

  test("opens a tunnel by name, by IPv4 and by IPv6", async () => {
    const port = await echo();
    open("good.test", "127.0.0.2");
    const done = [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for (const place of [
      byName("good.test", port),
      [5, 1, 0, 1, 127, 0, 0, 2, port >> 8, port & 255],
      [5, 1, 0, 4, ...new Array(10).fill(0), 255, 255, 127, 0, 0, 2, port >> 8, port & 255],
    ]) {
      const heard = await greet([...greeting, ...place], "words");
      expect([...heard.subarray(0, 12)]).toEqual(done);
      expect(heard.subarray(12).toString()).toBe("welcome words");
    }
  });

  test("byte by byte is the same", async () => {
    const port = await echo();
    open("good.test", "127.0.0.2");
    const client = connect(socket).setNoDelay();
    const heard = text(client);
    for (const byte of [...greeting, ...byName("good.test", port), ...Buffer.from("slow")]) {
      await new Promise((written) => client.write(Uint8Array.of(byte), written));
    }
    client.end();
    expect(await heard).toMatch(/welcome slow$/);
  });

  test("says what is wrong by number, and the log names the flag", async () => {
    await echo();
    open("good.test");
    const outcome = async (words: readonly number[]) => [...(await greet(words))].slice(0, 4);
    expect(await outcome([...greeting, ...byName("evil.test", 80)])).toEqual([5, 0, 5, 2]);
    expect(await outcome([...greeting, 5, 1, 0, 1, 169, 254, 169, 254, 0, 80])).toEqual([5, 0, 5, 2]);
    expect(denied.map(({ hint }) => hint)).toEqual([
      "grant it with --allow-net=evil.test:80",
      "grant it with --allow-net=169.254.169.254:80",
    ]);
    expect(await outcome([...greeting, 5, 2, 0, 1, 127, 0, 0, 1, 0, 80])).toEqual([5, 0, 5, 7]);
    expect(await outcome([...greeting, 5, 1, 0, 9, 1])).toEqual([5, 0, 5, 8]);
    expect(await outcome([...greeting, ...byName("a b", 80)])).toEqual([5, 0, 5, 8]);
    expect(await outcome([5, 1, 2])).toEqual([5, 255]);
    expect(await outcome([5])).toEqual([]);
    expect(await outcome([...greeting, 5, 1, 0, 3, 200, 65])).toEqual([5, 0]);
  });
});

describe("its life", () => {
  test("closing ends every tunnel and removes the socket", async () => {
    const port = await echo();
    const proxy = open("127.0.0.2");
    const client = connect(socket);
    client.write(`CONNECT 127.0.0.2:${port} HTTP/1.1\r\n\r\n`);
    const heard = client[Symbol.asyncIterator]();
    await heard.next();
    const gone = new Promise((closed) => client.on("error", () => {}).once("close", closed));
    proxy.close();
    await gone;
    expect(existsSync(socket)).toBe(false);
    proxy.close();
  });

  test("clients that leave at any moment do no harm", async () => {
    const port = await echo();
    open("127.0.0.2");
    const whole = Buffer.from(`CONNECT 127.0.0.2:${port} HTTP/1.1\r\n\r\nwords`);
    for (let length = 0; length <= whole.byteLength; length += 3) {
      const client = connect(socket);
      client.on("error", () => {});
      await new Promise((written) => client.write(whole.subarray(0, length), written));
      client.destroy();
    }
    expect(await say(whole)).toMatch(/welcome words$/);
  });

  test("a socket that cannot be made is said at once", () => {
    socket = join(folder, "no/such/folder/s");
    expect(() => open()).toThrow(`no proxy can listen at ${socket}`);
  });

  test("on loopback it is the same proxy", async () => {
    const port = await echo();
    const proxy = createEgressProxy({ egress, judge: grantJudge(netGrant(["127.0.0.2"])), onDenied: () => {} });
    proxies.push(proxy);
    const client = connect(await proxy.listenOnLoopback(), "127.0.0.1");
    client.end(`CONNECT 127.0.0.2:${port} HTTP/1.1\r\n\r\nwords`);
    expect(await text(client)).toMatch(/welcome words$/);
  });
});
