import { randomBytes, type webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { certain, connectPair, credentialsOf, openTestAuthority } from "../../plugin-host/fixtures/far-place.ts";
import { type Authority, openAuthority } from "../../plugin-host/remote/authority.ts";
import { type Credentials, makeRequest } from "../../plugin-host/remote/certificate.ts";
import { PROTOCOLS, shakeAsClient, shakeAsServer } from "../../plugin-host/remote/handshake.ts";
import { judgeDaemon, judgePinned } from "../../plugin-host/remote/judge-peer.ts";
import { LINK_PROTOCOL } from "../../plugin-host/remote/wire.ts";
import { x509 } from "../../plugin-host/remote/x509-library.ts";
import { closed, dialAs, isServed, openRemoteHouse, type RemoteHouse } from "./remote-house.ts";

// Certificates that are almost right, in both directions.

const NAME = "weather";
const MINUTE_MS = 60_000;
const EC = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

let house: RemoteHouse;
let authority: Authority;
const closers: (() => void)[] = [];
beforeEach(async () => {
  house = await openRemoteHouse();
  authority = certain(await openAuthority({ dir: house.dir, now: Date.now, random: randomBytes }));
});
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await house.close();
});

/** Dials with a certificate, and gives what the daemon's log says of it. */
async function refusalOf(credentials: Credentials): Promise<string> {
  const before = house.lines.length;
  const socket = await dialAs(house.port, credentials).catch(() => undefined);
  socket?.resume();
  if (socket !== undefined) await closed(socket);
  expect(house.remote.isConnected(NAME)).toBe(false);
  return house.lines.slice(before).join("\n");
}

type Order = {
  readonly names?: readonly { readonly type: "url" | "dns"; readonly value: string }[];
  readonly fromMs?: number;
  readonly untilMs?: number;
  readonly serial?: string;
  /** Who signs, PEM; the house's authority unless told otherwise. */
  readonly signer?: { readonly key: string; readonly name: string };
};

/** A certificate as nobody of ours would sign it. */
async function forge({ names, fromMs, untilMs, serial, signer }: Order): Promise<Credentials> {
  const keys = await crypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const key = signer?.key ?? readFileSync(join(house.dir, "authority.key"), "utf8");
  const made = await x509.X509CertificateGenerator.create({
    serialNumber: serial ?? randomBytes(16).toString("hex"),
    subject: "CN=weather",
    issuer: signer?.name ?? "CN=clawd remote plugins",
    notBefore: new Date(fromMs ?? Date.now() - MINUTE_MS),
    notAfter: new Date(untilMs ?? Date.now() + MINUTE_MS),
    signingAlgorithm: EC,
    publicKey: keys.publicKey,
    signingKey: await importKey(key),
    extensions: [
      new x509.SubjectAlternativeNameExtension([...(names ?? [{ type: "url", value: `clawd://plugin/${NAME}` }])]),
    ],
  });
  return { key: await exportKey(keys.privateKey), certificate: `${made.toString("pem")}\n`, authority: "" };
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
  return crypto.subtle.importKey("pkcs8", der, EC, false, ["sign"]);
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey("pkcs8", key));
  return `-----BEGIN PRIVATE KEY-----\n${der.toString("base64")}\n-----END PRIVATE KEY-----\n`;
}

test("names beside the one URI of a plugin are refused, also when the authority signed them", async () => {
  await house.enrol(NAME);
  const url = (value: string) => ({ type: "url", value }) as const;
  const wrong = [
    [url("clawd://plugin/weather"), url("clawd://daemon")],
    [url("clawd://plugin/weather, URI:clawd://daemon")],
    [url("clawd://daemon")],
    [url("https://plugin/weather")],
    [{ type: "dns", value: "clawd://plugin/weather" } as const],
    [url("clawd://plugin/weather"), { type: "dns", value: "localhost" } as const],
  ];
  for (const names of wrong) {
    expect(await refusalOf(await forge({ names }))).toContain("is not that of a plugin");
    house.skip(1_000);
  }
  for (const value of [
    "clawd://plugin/",
    "clawd://plugin/weather/x",
    "CLAWD://plugin/weather",
    "clawd://plugin/Weather",
  ]) {
    expect(await refusalOf(await forge({ names: [url(value)] }))).toContain("refused");
    house.skip(1_000);
  }
  expect(house.lines.filter((line) => line.includes("is connected"))).toEqual([]);
});

test("the serial number of a plugin helps nobody whose certificate another signed, and an unknown one is revoked", async () => {
  await house.enrol(NAME);
  const peers = JSON.parse(readFileSync(join(house.dir, "peers.json"), "utf8"));
  const { serial } = peers.peers[0].certificates[0];
  expect(await refusalOf(await forge({}))).toContain("was revoked");
  const other = await openTestAuthority();
  closers.push(other.close);
  const signer = { key: readFileSync(join(other.dir, "authority.key"), "utf8"), name: "CN=clawd remote plugins" };
  expect(await refusalOf(await forge({ signer, serial }))).toContain("does not hold");
});

test("a plugin's certificate signs no other", async () => {
  const own = await house.enrol(NAME);
  const forged = await forge({ signer: { key: own.key, name: `CN=${NAME}` } });
  expect(await refusalOf({ ...forged, certificate: forged.certificate + own.certificate })).toContain("does not hold");
});

test("certificates of yesterday and of tomorrow are refused, by the daemon's own clock", async () => {
  const own = await house.enrol(NAME);
  expect(await refusalOf(await forge({ untilMs: Date.now() - 1_000 }))).toMatch(/expired on/);
  expect(
    await refusalOf(await forge({ fromMs: Date.now() + MINUTE_MS, untilMs: Date.now() + 2 * MINUTE_MS })),
  ).toContain("a clock is wrong");
  // The daemon's clock jumps, and TLS has no part in it.
  house.skip(31 * 24 * 60 * MINUTE_MS);
  expect(await refusalOf(own)).toMatch(/expired on/);
  house.skip(-32 * 24 * 60 * MINUTE_MS);
  expect(await refusalOf(own)).toContain("a clock is wrong");
  house.skip(24 * 60 * MINUTE_MS);
  expect(await isServed(house, NAME, own)).toBe(true);
});

test("a connection is cut when its certificate runs out", async () => {
  const soon = await openRemoteHouse({ certificateMs: 1_500 });
  closers.push(() => void soon.close());
  const own = await soon.enrol(NAME);
  const socket = await dialAs(soon.port, own);
  socket.resume();
  await closed(socket);
  await expect.poll(() => soon.lines.at(-1)).toContain("not connected any more");
  expect(soon.remote.isConnected(NAME)).toBe(false);
});

test("an agent takes no plugin for a daemon, whoever signed its certificate, and no daemon of another house", async () => {
  const other = await openTestAuthority();
  closers.push(other.close);
  const own = await credentialsOf(authority, "clawd://plugin/weather");
  const shown = [
    [await credentialsOf(authority, "clawd://plugin/mail"), "is not that of a daemon"],
    [certain(await other.authority.credentials()), "does not hold"],
  ] as const;
  for (const [credentials, because] of shown) {
    const { dialled, dialling } = await connectPair();
    const serving = shakeAsServer(dialled, { credentials, protocols: PROTOCOLS });
    const socket = certain(await shakeAsClient(dialling, { credentials: own, protocols: [LINK_PROTOCOL] }));
    expect(judgeDaemon(socket, Date.now())).toMatchObject({
      ok: false,
      failure: { message: expect.stringContaining(because) },
    });
    expect(judgePinned(socket, authority.fingerprint, Date.now()).ok).toBe(false);
    socket.destroy();
    const served = await serving;
    if (served.ok) served.value.destroy();
  }
});

test("an impostor with the authority's own certificate behind a leaf of its making gets no token", async () => {
  const forged = await forge({
    names: [{ type: "url", value: "clawd://daemon" }],
    signer: { key: (await makeRequest()).key, name: "CN=clawd remote plugins" },
  });
  const { dialled, dialling } = await connectPair();
  const credentials = {
    ...forged,
    certificate: forged.certificate + authority.certificate,
    authority: authority.certificate,
  };
  const serving = shakeAsServer(dialled, { credentials, protocols: PROTOCOLS });
  const socket = certain(await shakeAsClient(dialling, { credentials: undefined, protocols: PROTOCOLS }));
  expect(judgePinned(socket, authority.fingerprint, Date.now())).toMatchObject({
    ok: false,
    failure: { code: "denied" },
  });
  socket.destroy();
  const served = await serving;
  if (served.ok) served.value.destroy();
});
