import { createServer as createTlsServer } from "node:https";
import { createServer } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Result } from "../../core/domain/failure.ts";
import type { FetchAnswer, FetchOrder } from "../guest/guest-protocol.ts";
import { type AddressJudge, grantJudge } from "./address-judge.ts";
import { type Egress, openEgress } from "./egress.ts";
import { CERTIFICATE, PRIVATE_KEY } from "./fixtures/certificate.ts";
import { type LocalNet, NO_SIGNAL, netGrant, openLocalNet, orderOf } from "./fixtures/local-net.ts";

const MIB = 1024 * 1024;
let net: LocalNet;
let egress: Egress;
/** What names stand for; each look-up takes the next answer, the last one stays. */
let names: Record<string, string[][]>;
let lookups: string[];

beforeEach(() => {
  net = openLocalNet();
  names = {};
  lookups = [];
  egress = openEgress({
    ownAddresses: () => [],
    extraCa: CERTIFICATE,
    async resolve(host) {
      lookups.push(host);
      const answers = names[host];
      if (!answers?.[0]) throw new Error(`getaddrinfo ENOTFOUND ${host}`);
      return (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    },
  });
});
afterEach(() => {
  egress.close();
  net.close();
});

function get(url: string, allow: readonly string[], change: Partial<FetchOrder> = {}): Promise<Result<FetchAnswer>> {
  return egress.fetch(orderOf(url, change), grantJudge(netGrant(allow)), NO_SIGNAL);
}

const textOf = (result: Result<FetchAnswer>) =>
  result.ok ? Buffer.from(result.value.body, "base64").toString() : result.failure;

test("a request goes out as it was ordered and comes back whole", async () => {
  const port = await net.serve("127.0.0.1", (_, response) => {
    response.writeHead(
      201,
      "Made",
      [
        ["Set-Cookie", "a=1"],
        ["Set-Cookie", "b=2"],
        ["X-One", "é"],
      ].flat(),
    );
    response.end("hello");
  });
  const answer = await get(`http://127.0.0.1:${port}/path?q=1#part`, [`127.0.0.1:${port}`], {
    method: "POST",
    headers: [
      ["X-Mine", " yes "],
      ["user-agent", "me"],
    ],
    body: Buffer.from("sent").toString("base64"),
  });
  expect(answer).toMatchObject({
    ok: true,
    value: { url: `http://127.0.0.1:${port}/path?q=1`, redirected: false, status: 201, statusText: "Made" },
  });
  expect(textOf(answer)).toBe("hello");
  expect(answer.ok && answer.value.headers.filter(([name]) => name === "set-cookie" || name === "x-one")).toEqual([
    ["set-cookie", "a=1"],
    ["set-cookie", "b=2"],
    ["x-one", "é"],
  ]);
  const [visit] = net.visits;
  expect(visit?.body).toBe("sent");
  expect(visit?.request).toMatchObject({ method: "POST", url: "/path?q=1" });
  expect(visit?.request.headers).toMatchObject({ "x-mine": "yes", "user-agent": "me", host: `127.0.0.1:${port}` });
});

describe("where it goes", () => {
  const answer = (_: unknown, response: { end(text: string): void }) => response.end("reached");

  test("a name is looked up once, and the address that was judged is the one dialled", async () => {
    const port = await net.serve("127.0.0.2", answer);
    await net.serve("127.0.0.3", answer, port);
    names["rebind.test"] = [["127.0.0.2"], ["127.0.0.3"]];
    expect(textOf(await get(`http://rebind.test:${port}/`, ["rebind.test", "127.0.0.2"]))).toBe("reached");
    expect(net.visits.map(({ at }) => at)).toEqual(["127.0.0.2"]);
    expect(lookups).toEqual(["rebind.test"]);
    // The next request looks it up anew, and what the name now stands for is judged.
    expect(await get(`http://rebind.test:${port}/`, ["rebind.test", "127.0.0.2"])).toMatchObject({
      failure: { code: "denied", message: expect.stringContaining("127.0.0.3") },
    });
    expect(net.visits).toHaveLength(1);
  });

  test("of several answers only the granted ones are dialled, and the next when one does not answer", async () => {
    const port = await net.serve("127.0.0.3", answer);
    await net.serve("127.0.0.4", answer, port);
    names["mixed.test"] = [["127.0.0.4", "fe80::1%eth0", "not an address", "127.0.0.2", "::ffff:127.0.0.3"]];
    expect(textOf(await get(`http://mixed.test:${port}/`, ["mixed.test", "127.0.0.2", "127.0.0.3"]))).toBe("reached");
    expect(net.visits.map(({ at }) => at)).toEqual(["127.0.0.3"]);
  });

  test.each([
    "http://127.0.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127。0。0。1:PORT/",
    "http://１２７.0.0.1:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://LOCALHOST.:PORT/",
    "http://a.localhost:PORT/",
    "http://0.0.0.0:PORT/",
    "http://[::]:PORT/",
  ])("%s is this machine, which all of net does not open", async (url) => {
    const port = await net.serve("127.0.0.1", answer);
    names.localhost = names["a.localhost"] = [["127.0.0.1"]];
    expect(await get(url.replace("PORT", String(port)), ["", "*.example.com"])).toMatchObject({
      failure: { code: "denied", hint: expect.stringContaining("--allow-net=") },
    });
    expect(net.visits).toEqual([]);
  });

  test("an address of the machine's own is not opened by its name, however public it looks", async () => {
    names["me.test"] = [["93.184.216.34"]];
    const own = openEgress({ ownAddresses: () => ["93.184.216.34"], resolve: async () => ["93.184.216.34"] });
    const order = orderOf("http://me.test:9/x".replace(":9", ":8080"));
    expect(await own.fetch(order, grantJudge(netGrant([""])), NO_SIGNAL)).toMatchObject({
      failure: { code: "denied", message: expect.stringContaining("an address of this machine") },
    });
    own.close();
  });

  test("a name that is not granted is not even looked up", async () => {
    names["secret.evil.test"] = [["127.0.0.1"]];
    expect(await get("http://secret.evil.test/", ["good.test"])).toMatchObject({
      failure: {
        code: "denied",
        message: "net=secret.evil.test:80 is not granted",
        hint: "grant it with --allow-net=secret.evil.test:80",
      },
    });
    expect(lookups).toEqual([]);
  });

  test("a granted port opens no other", async () => {
    const port = await net.serve("127.0.0.1", answer);
    expect(await get(`http://127.0.0.1:${port}/`, [`127.0.0.1:${port + 1}`])).toMatchObject({
      failure: { code: "denied" },
    });
  });

  test("a denied network beats a granted name", async () => {
    const port = await net.serve("127.0.0.2", answer);
    names["a.test"] = [["127.0.0.2"]];
    const judge = grantJudge(netGrant(["a.test", "127.0.0.0/8"], ["127.0.0.0/30"]));
    expect(await egress.fetch(orderOf(`http://a.test:${port}/`), judge, NO_SIGNAL)).toMatchObject({
      failure: { code: "denied", message: expect.stringContaining("127.0.0.2, which is denied") },
    });
  });

  test.each([
    ["ftp://a.test/", "neither an http nor an https URL"],
    ["file:///etc/passwd", "neither an http nor an https URL"],
    ["//a.test/", "is not a URL"],
    ["http://", "is not a URL"],
    ["http://me:secret@a.test/", "has a user name or password"],
    ["http://me@a.test/", "has a user name or password"],
    ["http://a.test:22/", "the port 22 is not one for http"],
    ["http://a.test:6000/", "the port 6000 is not one for http"],
    ["http://a.test:99999/", "is not a URL"],
  ])("%s is no place to fetch from", async (url, said) => {
    names["a.test"] = [["127.0.0.1"]];
    const refused = await get(url, ["", "a.test", "127.0.0.1"]);
    expect(refused).toMatchObject({ failure: { code: "invalid", message: expect.stringContaining(said) } });
    expect(JSON.stringify(refused)).not.toContain("secret");
    expect(lookups).toEqual([]);
  });

  test("a name that does not exist and a port where nobody listens are told apart from a denial", async () => {
    const port = await net.serve("127.0.0.1", answer);
    net.close();
    expect(await get("http://gone.test/", ["gone.test"])).toMatchObject({
      failure: { code: "unavailable", message: "gone.test was not found" },
    });
    expect(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"])).toMatchObject({
      failure: { code: "unavailable", message: `127.0.0.1 port ${port} cannot be reached (ECONNREFUSED)` },
    });
  });
});

describe("a judge", () => {
  test("is asked for the name, then for each address, and may take its time", async () => {
    const port = await net.serve("127.0.0.1", (_, response) => response.end("reached"));
    names["a.test"] = [["127.0.0.2", "127.0.0.1"]];
    const asked: unknown[] = [];
    const judge: AddressJudge = {
      async name(...question) {
        asked.push(question);
        expect(lookups).toEqual([]);
        return undefined;
      },
      async address(...question) {
        asked.push(question);
        return question[1] === "127.0.0.2" ? { ok: false, message: "no", hint: "ask" } : undefined;
      },
    };
    expect(textOf(await egress.fetch(orderOf(`http://a.test:${port}/`), judge, NO_SIGNAL))).toBe("reached");
    expect(asked).toEqual([
      ["a.test", port],
      ["a.test", "127.0.0.2", port, false],
      ["a.test", "127.0.0.1", port, false],
    ]);
  });

  test("that fails fails the fetch, not the daemon", async () => {
    const judge: AddressJudge = {
      name: () => Promise.reject(new Error("the record failed")),
      address: () => undefined,
    };
    await expect(egress.fetch(orderOf("http://a.test/"), judge, NO_SIGNAL)).rejects.toThrow("the record failed");
  });
});

describe("redirects", () => {
  const to =
    (place: string, status = 302) =>
    (_: unknown, response: import("node:http").ServerResponse) =>
      response.writeHead(status, { location: place }).end("ignored");

  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/",
    "http://metadata.test/",
    "http://10.0.0.1/",
  ])("to %s end at the judge", async (place) => {
    names["metadata.test"] = [["169.254.169.254"]];
    const port = await net.serve("127.0.0.1", to(place));
    expect(await get(`http://127.0.0.1:${port}/`, ["", "127.0.0.1"])).toMatchObject({
      failure: { code: "denied", hint: expect.stringMatching(/--allow-net=/) },
    });
  });

  test.each([
    ["file:///etc/passwd", "neither an http nor an https URL"],
    ["http://a:b@127.0.0.1/", "has a user name or password"],
    ["http://127.0.0.1:25/", "the port 25 is not one for http"],
  ])("to %s are not followed", async (place, said) => {
    const port = await net.serve("127.0.0.1", to(place));
    expect(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"])).toMatchObject({
      failure: { code: "invalid", message: expect.stringContaining(said) },
    });
  });

  test("stop after five", async () => {
    const port = await net.serve("127.0.0.1", to("/again"));
    expect(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"])).toMatchObject({
      failure: { code: "invalid", message: `127.0.0.1:${port} redirects once more after 5 times` },
    });
    expect(net.visits).toHaveLength(6);
  });

  test("that nobody asked for are an error, or the answer", async () => {
    const port = await net.serve("127.0.0.1", to("/again"));
    const url = `http://127.0.0.1:${port}/`;
    expect(await get(url, ["127.0.0.1"], { redirect: "error" })).toMatchObject({ failure: { code: "invalid" } });
    expect(await get(url, ["127.0.0.1"], { redirect: "manual" })).toMatchObject({
      value: { status: 302, redirected: false, headers: expect.arrayContaining([["location", "/again"]]) },
    });
  });

  test("to another origin leave behind who asked; within one they do not", async () => {
    const other = await net.serve("127.0.0.2", (_, response) => response.end("there"));
    const port = await net.serve("127.0.0.1", (request, response) =>
      to(request.url === "/1" ? "/2" : `http://127.0.0.2:${other}/3`)(request, response),
    );
    const headers = [
      ["Authorization", "Bearer x"],
      ["Cookie", "a=b"],
      ["X-Kept", "yes"],
    ] as const;
    const answer = await get(`http://127.0.0.1:${port}/1`, ["127.0.0.1", "127.0.0.2"], { headers });
    expect(answer).toMatchObject({ value: { url: `http://127.0.0.2:${other}/3`, redirected: true } });
    const sent = net.visits.map(({ request: { headers: all } }) => [all.authorization, all.cookie, all["x-kept"]]);
    expect(sent).toEqual([
      ["Bearer x", "a=b", "yes"],
      ["Bearer x", "a=b", "yes"],
      [undefined, undefined, "yes"],
    ]);
  });

  test.each([
    [301, "GET", ""],
    [302, "GET", ""],
    [303, "GET", ""],
    [307, "POST", "data"],
    [308, "POST", "data"],
  ])("by %i go on as %s", async (status, method, body) => {
    const port = await net.serve("127.0.0.1", (request, response) =>
      request.url === "/" ? to("/next", status)(request, response) : response.end("ok"),
    );
    const change = {
      method: "POST",
      body: Buffer.from("data").toString("base64"),
      headers: [["content-type", "text/plain"]] as const,
    };
    expect(textOf(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"], change))).toBe("ok");
    expect(net.visits[1]?.request.method).toBe(method);
    expect(net.visits[1]?.body).toBe(body);
    expect(net.visits[1]?.request.headers["content-type"]).toBe(body === "" ? undefined : "text/plain");
  });
});

describe("what goes out", () => {
  test("headers of the connection are dropped, and the body is framed once", async () => {
    const port = await net.serve("127.0.0.1", (_, response) => response.end("ok"));
    const headers = [
      ["Host", "evil.test"],
      ["Content-Length", "1"],
      ["Transfer-Encoding", "chunked"],
      ["Connection", "x-kept"],
      ["Upgrade", "websocket"],
      ["Expect", "100-continue"],
      ["TE", "trailers"],
      ["Trailer", "x"],
      ["Keep-Alive", "timeout=9"],
      ["Proxy-Authorization", "Basic x"],
      ["X-Kept", "yes"],
    ] as const;
    const change = {
      method: "POST",
      headers,
      body: Buffer.from("0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n").toString("base64"),
    };
    expect(textOf(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"], change))).toBe("ok");
    expect(net.visits).toHaveLength(1);
    expect(net.visits[0]?.request.headers).toEqual({
      host: `127.0.0.1:${port}`,
      connection: expect.any(String),
      "content-length": "31",
      "x-kept": "yes",
      accept: "*/*",
      "accept-language": "*",
      "accept-encoding": "gzip, br",
      "user-agent": "clawd",
    });
  });

  test.each([
    { headers: [["X-A", "1\r\nX-B: 2"]] as const },
    { headers: [["X-A", "1\n\nGET / HTTP/1.1"]] as const },
    { headers: [["X A", "1"]] as const },
    { headers: [["X-A: 1\r\nX-B", "1"]] as const },
    { headers: [["X-A", "\0"]] as const },
    { headers: [["X-A", "Ā"]] as const },
    { headers: [["", "1"]] as const },
    { method: "GET / HTTP/1.1\r\nX: y" },
    { method: "CONNECT" },
    { method: "TRACE" },
    { method: "track" },
    { method: "" },
    { method: "GET", body: "aGk=" },
  ])("%j is refused", async (change) => {
    const port = await net.serve("127.0.0.1", (_, response) => response.end("ok"));
    expect(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"], change)).toMatchObject({
      failure: { code: "invalid" },
    });
    expect(net.visits).toEqual([]);
  });

  test("a line end in a URL is taken out, not sent", async () => {
    const port = await net.serve("127.0.0.1", (_, response) => response.end("ok"));
    expect(textOf(await get(`http://127.0.0.1:${port}/a\r\nX-B: 2/ b`, ["127.0.0.1"]))).toBe("ok");
    expect(net.visits[0]?.request.url).toBe("/aX-B:%202/%20b");
  });

  test("too large a body, header or URL stays here", async () => {
    const large = Buffer.alloc(4 * MIB + 1).toString("base64");
    for (const [url, change] of [
      ["http://127.0.0.1/", { method: "POST", body: large }],
      ["http://127.0.0.1/", { headers: [["x", "y".repeat(70_000)]] }],
      [`http://127.0.0.1/${"y".repeat(70_000)}`, {}],
    ] as const) {
      expect(await get(url, ["127.0.0.1"], change)).toMatchObject({ failure: { code: "exhausted" } });
    }
  });

  test("proxies of the environment mean nothing", async () => {
    const port = await net.serve("127.0.0.1", (_, response) => response.end("direct"));
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = process.env.http_proxy = "http://127.0.0.1:9";
    try {
      expect(textOf(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"]))).toBe("direct");
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
      delete process.env.http_proxy;
    }
  });
});

describe("what comes back", () => {
  test.each([
    ["gzip", gzipSync("text ".repeat(100))],
    ["x-gzip", gzipSync("text ".repeat(100))],
    ["deflate", deflateSync("text ".repeat(100))],
    ["br", brotliCompressSync("text ".repeat(100))],
    ["gzip, br", brotliCompressSync(gzipSync("text ".repeat(100)))],
  ])("packed as %s it is unpacked, and says nothing of that", async (coding, body) => {
    const port = await net.serve("127.0.0.1", (_, response) =>
      response.writeHead(200, { "content-encoding": coding, "content-length": body.length }).end(body),
    );
    const answer = await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"]);
    expect(textOf(answer)).toBe("text ".repeat(100));
    const described = answer.ok ? answer.value.headers.map(([name]) => name) : [];
    expect(described.filter((name) => name.startsWith("content-"))).toEqual([]);
  });

  test("an unknown packing is handed on as it is", async () => {
    const port = await net.serve("127.0.0.1", (_, response) =>
      response.writeHead(200, { "content-encoding": "mystery" }).end("raw"),
    );
    const answer = await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"]);
    expect(textOf(answer)).toBe("raw");
    expect(answer.ok && answer.value.headers).toContainEqual(["content-encoding", "mystery"]);
  });

  test.each([
    ["gzip", gzipSync(Buffer.alloc(64 * MIB))],
    ["br", brotliCompressSync(Buffer.alloc(64 * MIB))],
    ["gzip, gzip", gzipSync(gzipSync(Buffer.alloc(64 * MIB)))],
  ])("a bomb of %s ends at the limit", async (coding, body) => {
    const port = await net.serve("127.0.0.1", (_, response) =>
      response.writeHead(200, { "content-encoding": coding }).end(body),
    );
    expect(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"])).toMatchObject({
      failure: { code: "exhausted", message: `the answer is larger than ${4 * MIB} bytes` },
    });
  });

  test("a body of four MiB fits, and one without an end does not", async () => {
    const port = await net.serve("127.0.0.1", (request, response) => {
      if (request.url === "/fits") return void response.end(Buffer.alloc(4 * MIB));
      const more = () => {
        while (response.write(Buffer.alloc(64 * 1024)));
      };
      response.on("drain", more);
      more();
    });
    const fits = await get(`http://127.0.0.1:${port}/fits`, ["127.0.0.1"]);
    expect(fits.ok && Buffer.from(fits.value.body, "base64").byteLength).toBe(4 * MIB);
    expect(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"])).toMatchObject({ failure: { code: "exhausted" } });
  });

  test.each([
    ["nothing at all", ""],
    ["no protocol", "hello there\r\n\r\n"],
    ["an endless head", `HTTP/1.1 200 OK\r\n${"X-A: b\r\n".repeat(20_000)}`],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["half a body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"],
    ["broken gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nhalf"],
    ["another protocol", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
  ])("%s is the other side's failure", async (_, said) => {
    const port = await net.listen(createServer((socket) => socket.on("error", () => {}).end(said)));
    expect(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"])).toMatchObject({ failure: { code: "unavailable" } });
  });

  test("HEAD has no body, whatever is said of it", async () => {
    const port = await net.serve("127.0.0.1", (_, response) =>
      response.writeHead(200, { "content-encoding": "gzip", "content-length": 99 }).end(),
    );
    expect(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"], { method: "HEAD" })).toMatchObject({
      value: { status: 200, body: "", headers: expect.arrayContaining([["content-length", "99"]]) },
    });
  });
});

describe("its end", () => {
  test("an answer that never comes, or drips, is given up with the order", async () => {
    for (const how of ["silent", "dripping"] as const) {
      const port = await net.serve("127.0.0.1", (_, response) => {
        if (how === "dripping") response.write("a");
      });
      const giveUp = new AbortController();
      const judge = grantJudge(netGrant(["127.0.0.1"]));
      const fetching = egress.fetch(orderOf(`http://127.0.0.1:${port}/`), judge, giveUp.signal);
      await expect.poll(() => net.visits.length).toBeGreaterThan(0);
      giveUp.abort();
      expect(await fetching).toMatchObject({ failure: { code: "cancelled" } });
      net.visits.length = 0;
    }
  });

  test("after ten seconds a fetch is over, wherever it hangs", { timeout: 20_000 }, async () => {
    const drips: NodeJS.Timeout[] = [];
    const silent = await net.serve("127.0.0.1", () => {});
    const drip = await net.serve("127.0.0.1", (_, response) => {
      drips.push(setInterval(() => response.write("a"), 100));
    });
    const deaf = await net.listen(createServer(() => {}));
    const hangs = openEgress({ ownAddresses: () => [], resolve: () => new Promise(() => {}) });
    const judge = () => grantJudge(netGrant(["127.0.0.1", "slow.test"]));
    const outcomes = await Promise.all([
      egress.fetch(orderOf(`http://127.0.0.1:${silent}/`), judge(), NO_SIGNAL),
      egress.fetch(orderOf(`http://127.0.0.1:${drip}/`), judge(), NO_SIGNAL),
      egress.fetch(orderOf(`https://127.0.0.1:${deaf}/`), judge(), NO_SIGNAL),
      hangs.fetch(orderOf("http://slow.test/"), judge(), NO_SIGNAL),
    ]);
    for (const timer of drips) clearInterval(timer);
    hangs.close();
    expect(outcomes).toMatchObject(Array.from({ length: 4 }, () => ({ failure: { code: "timed_out" } })));
  });

  test("one judge has four look-ups under way at once; another's do not wait for them", async () => {
    const pending: (() => void)[] = [];
    const slow = openEgress({
      ownAddresses: () => [],
      resolve: () => new Promise((resolve) => pending.push(() => resolve(["10.0.0.1"]))),
    });
    const [one, other] = [grantJudge(netGrant([""])), grantJudge(netGrant([""]))];
    const giveUp = new AbortController();
    const dialling = Array.from({ length: 6 }, (_, index) => slow.dial(`a${index}.test`, 80, one, NO_SIGNAL));
    const given = slow.dial("given.test", 80, one, giveUp.signal);
    await expect.poll(() => pending.length).toBe(4);
    const another = slow.dial("b.test", 80, other, NO_SIGNAL);
    await expect.poll(() => pending.length).toBe(5);
    giveUp.abort();
    expect(await given).toMatchObject({ failure: { code: "cancelled" } });
    for (const answer of pending.splice(0)) answer();
    await expect.poll(() => pending.length).toBe(2);
    for (const answer of pending) answer();
    const denied = { failure: { code: "denied" } };
    expect(await Promise.all([...dialling, another])).toMatchObject(Array.from({ length: 7 }, () => denied));
    slow.close();
  });

  test("closing gives up what is under way and all that is asked later", async () => {
    const port = await net.serve("127.0.0.1", () => {});
    const fetching = get(`http://127.0.0.1:${port}/`, ["127.0.0.1"]);
    await expect.poll(() => net.visits.length).toBe(1);
    egress.close();
    expect(await fetching).toMatchObject({ failure: { code: "cancelled" } });
    expect(await get(`http://127.0.0.1:${port}/`, ["127.0.0.1"])).toMatchObject({ failure: { code: "cancelled" } });
  });
});

describe("https", () => {
  const secure = () =>
    net.listen(createTlsServer({ key: PRIVATE_KEY, cert: CERTIFICATE }, (_, response) => response.end("secret")));

  test("a certificate is judged by the name that was asked for", async () => {
    const port = await secure();
    names["tls.test"] = names["other.test"] = [["127.0.0.1"]];
    expect(textOf(await get(`https://tls.test:${port}/`, ["tls.test", "127.0.0.1"]))).toBe("secret");
    expect(await get(`https://other.test:${port}/`, ["other.test", "127.0.0.1"])).toMatchObject({
      failure: {
        code: "unavailable",
        message: "other.test cannot be spoken to securely (ERR_TLS_CERT_ALTNAME_INVALID)",
      },
    });
    expect(await get(`https://127.0.0.1:${port}/`, ["127.0.0.1"])).toMatchObject({ failure: { code: "unavailable" } });
  });

  test("a certificate that nobody vouches for is refused", async () => {
    const port = await secure();
    const plain = openEgress({ ownAddresses: () => [], resolve: async () => ["127.0.0.1"] });
    const judge = grantJudge(netGrant(["tls.test", "127.0.0.1"]));
    expect(await plain.fetch(orderOf(`https://tls.test:${port}/`), judge, NO_SIGNAL)).toMatchObject({
      failure: { code: "unavailable", message: expect.stringContaining("cannot be spoken to securely") },
    });
    plain.close();
  });
});
