import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { certain } from "../../plugin-host/fixtures/far-place.ts";
import { makeRequest } from "../../plugin-host/remote/certificate.ts";
import { readToken } from "../../plugin-host/remote/token.ts";
import { ENROL_PROTOCOL } from "../../plugin-host/remote/wire.ts";
import { closed, dialPlain, dialTls, isServed, openRemoteHouse, type RemoteHouse, sayToEnrol } from "./remote-house.ts";

// Whoever can reach the port, and has nothing else.

const NAME = "weather";
let house: RemoteHouse;
beforeEach(async () => {
  house = await openRemoteHouse();
});
afterEach(() => house.close());

test("ten thousand connections that say nothing keep no agent out", async () => {
  const credentials = await house.enrol(NAME);
  let opened = 0;
  let isOver = false;
  const flood = async () => {
    while (!isOver && opened < 10_000) {
      opened += 1;
      const socket = dialPlain(house.port);
      socket.resume();
      await closed(socket);
    }
  };
  // Each comes again as soon as it was cut off.
  const floods = Array.from({ length: 600 }, flood);
  for (let round = 0; round < 5; round += 1) expect(await isServed(house, NAME, credentials)).toBe(true);
  const beforeEnd = opened;
  isOver = true;
  expect(beforeEnd).toBeGreaterThan(300);
  await house.close();
  await Promise.all(floods);
}, 60_000);

test("who begins a handshake and never ends it keeps no agent out either", async () => {
  const credentials = await house.enrol(NAME);
  const begun = Array.from({ length: 40 }, () => {
    const socket = dialPlain(house.port);
    // The head of a TLS record, and nothing of what it announces.
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]));
    socket.resume();
    return socket;
  });
  // Those that are too many for one address at once.
  await Promise.any(begun.map(closed));
  house.skip(20_000);
  expect(await isServed(house, NAME, credentials)).toBe(true);
  for (const socket of begun) socket.destroy();
});

test("strangers are cut off in time: silent ones, slow handshakes, slow enrolments, and who never ends its side", async () => {
  const drip = (socket: { write(text: string | Buffer): unknown; destroyed: boolean }, what: string | Buffer) => {
    const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : void socket.write(what)), 500);
  };
  const silent = dialPlain(house.port);
  const slow = dialPlain(house.port);
  slow.write(Buffer.from([0x16, 0x03, 0x01, 0x3f, 0x00]));
  drip(slow, Buffer.from([1]));
  const enrolling = await dialTls(house.port, { ALPNProtocols: [ENROL_PROTOCOL] });
  drip(enrolling, "a");
  const answered = await dialTls(house.port, { ALPNProtocols: [ENROL_PROTOCOL], allowHalfOpen: true } as object);
  answered.write('{"name":"nobody","secret":"x","request":""}\n');
  drip(answered, "{}\n");
  for (const socket of [silent, slow, enrolling, answered]) {
    socket.on("error", () => {});
    socket.resume();
  }
  await Promise.all([silent, slow, enrolling, answered].map(closed));
}, 40_000);

test("guesses at a token use nothing up and fill no log, and a token that was used is worth nothing", async () => {
  const token = certain(readToken(await house.invite(NAME)));
  const { request } = await makeRequest();
  for (let guess = 0; guess < 300; guess += 1) {
    // Ahead of the limit of handshakes: a patient guesser.
    house.skip(1_000);
    const secret = guess % 3 === 0 ? token.secret.slice(0, -1) : randomBytes(32).toString("base64url");
    expect(await sayToEnrol(house.port, { name: NAME, secret, request })).toContain("wrong, used or expired");
  }
  expect(house.lines.length).toBeLessThan(200);
  const taken = { name: NAME, secret: token.secret, request };
  house.skip(1_000);
  expect(await sayToEnrol(house.port, taken)).toContain("BEGIN CERTIFICATE");
  const [row] = house.remote.list();
  expect(await sayToEnrol(house.port, taken)).toContain("wrong, used or expired");
  expect(house.remote.list()).toEqual([row]);
}, 60_000);

test("what a stranger calls itself stands in no log", async () => {
  const names = [
    `a\n2026-01-01T00:00:00Z remote plugin "a" is connected`,
    "\u001b]0;x\u0007",
    "a".repeat(60_000),
    "__proto__",
  ];
  for (const name of names) expect(await sayToEnrol(house.port, { name, secret: "x", request: "" })).not.toBe("");
  const said = house.lines.join("\n");
  expect(said).not.toContain("is connected");
  expect(said).not.toContain("\u001b");
  expect(said.length).toBeLessThan(2_000);
});

test("nonsense in place of a request for an enrolment is answered or cut off, and the door stays open", async () => {
  const credentials = await house.enrol(NAME);
  const said: unknown[] = [
    null,
    1,
    [],
    "x",
    {},
    { name: 1 },
    { name: NAME },
    { name: NAME, secret: [] },
    JSON.parse('{"__proto__":{"name":"weather"}}'),
  ];
  for (const one of said) {
    expect(await sayToEnrol(house.port, one)).toContain("wrong, used or expired");
    house.skip(1_000);
  }
  for (const raw of ["\n", "{", "[".repeat(5_000), "a".repeat(100_000), "\u0000\n", "\ud800\n"]) {
    const socket = await dialTls(house.port, { ALPNProtocols: [ENROL_PROTOCOL] });
    socket.on("error", () => {});
    socket.resume();
    socket.write(`${raw}\n`);
    await closed(socket);
    house.skip(1_000);
  }
  for (const ALPNProtocols of [["h2"], ["http/1.1"], undefined]) {
    const options = ALPNProtocols === undefined ? {} : { ALPNProtocols };
    const dialled = dialTls(house.port, { ALPNProtocols: [], ...options });
    const socket = await dialled.catch(() => undefined);
    socket?.resume();
    if (socket !== undefined) await closed(socket);
    house.skip(1_000);
  }
  expect(await isServed(house, NAME, credentials)).toBe(true);
}, 60_000);
