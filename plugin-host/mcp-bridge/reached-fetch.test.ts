import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { reachedFetch, UnreachedError } from "./reached-fetch.ts";
import { sayCause } from "./retrying-fetch.ts";

test("who does not listen is named, with what the system said", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const cause = await reachedFetch(fetch, undefined)(`http://127.0.0.1:${port}/mcp`).catch((error: unknown) => error);
  expect(cause).toBeInstanceOf(UnreachedError);
  expect(sayCause(cause)).toBe(`127.0.0.1:${port} cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}`);
});

test("what a proxy says of a refusal is passed on, and what it does not say is not waited for", async () => {
  let says = "clawd: a.test is not granted (allow it)\n";
  const proxy = createServer();
  const targets: (string | undefined)[] = [];
  proxy.on("connect", ({ url }, socket) => {
    targets.push(url);
    socket.end(`HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n${says}`);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  // As fetch fails behind a proxy.
  const failing = async () => {
    const cause = new Error("Proxy response (403) !== 200 when HTTP Tunneling");
    throw new TypeError("fetch failed", { cause: new Error("Request was cancelled.", { cause }) });
  };
  const said = async () => sayCause(await reachedFetch(failing, address)("https://a.test/mcp").catch((error) => error));
  expect(await said()).toBe("a.test cannot be reached: a.test is not granted (allow it)");
  expect(targets).toEqual(["a.test:443"]);
  says = "";
  expect(await said()).toBe("a.test cannot be reached: Proxy response (403) !== 200 when HTTP Tunneling");
  await new Promise((resolve) => proxy.close(resolve));
  expect(await said()).toBe("a.test cannot be reached: Proxy response (403) !== 200 when HTTP Tunneling");
});

test("a request that was given up stays one", async () => {
  const reason = new Error("given up");
  const signal = AbortSignal.abort(reason);
  await expect(reachedFetch(fetch, undefined)("http://127.0.0.1:1234/", { signal })).rejects.toBe(reason);
});
