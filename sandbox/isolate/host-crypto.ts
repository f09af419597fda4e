import { createCipheriv, createDecipheriv, randomBytes, webcrypto } from "node:crypto";
import type { CryptoMethod, Json } from "../guest/guest-protocol.ts";

/**
 * Cryptography for guests, with Node's own. A key goes to its guest as a text sealed with a secret of this process, so that
 * nothing is kept here for it and no guest can read or forge one; with the process the keys are gone.
 */
export type HostCrypto = {
  /** Rejects with a DOMException or a TypeError for what the standard or the limits refuse. */
  run(method: string, args: readonly Json[]): Promise<Json>;
};

type Key = webcrypto.CryptoKey;
type Sealed = {
  readonly format: "raw" | "pkcs8" | "spki";
  readonly data: string;
  readonly algorithm: Json;
  readonly extractable: boolean;
  readonly usages: readonly webcrypto.KeyUsage[];
};

const ALGORITHMS: ReadonlySet<string> = new Set([
  ...["SHA-1", "SHA-256", "SHA-384", "SHA-512"],
  ...["HMAC", "AES-GCM", "AES-CBC", "AES-CTR", "AES-KW", "PBKDF2", "HKDF"],
  ...["ECDSA", "ECDH", "ED25519", "X25519", "RSA-OAEP", "RSA-PSS", "RSASSA-PKCS1-V1_5"],
]);
/** Larger keys of RSA take a processor for seconds. */
const MODULUS_LIMIT_BITS = 4096;
const EXPONENTS: readonly string[] = ["03", "010001"];
/** Rounds of PBKDF2, and these times the blocks that it makes. */
const ROUNDS_LIMIT = 1_000_000;
const ROUNDS_OF_BLOCKS_LIMIT = 4_000_000;
/** The shortest digest there is: what PBKDF2 makes at a time. */
const BLOCK_BITS = 160;
/** Longest key or bits that are made, bits. */
const LENGTH_LIMIT_BITS = 524_288;
const SEAL = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Which arguments of a method name an algorithm. */
const METHODS: Readonly<Record<CryptoMethod, readonly number[]>> = {
  digest: [0],
  encrypt: [0],
  decrypt: [0],
  sign: [0],
  verify: [0],
  generateKey: [0],
  importKey: [2],
  exportKey: [],
  deriveBits: [0],
  deriveKey: [0, 2],
  wrapKey: [3],
  unwrapKey: [3, 4],
};

function refused(message: string): DOMException {
  return new DOMException(message, "NotSupportedError");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

/** Throws for an algorithm that is not offered, or that would take too long. `bits` is how much is derived. */
function checkAlgorithm(algorithm: unknown, bits: number): void {
  if (!isRecord(algorithm) || typeof algorithm.name !== "string") throw refused("an algorithm has a name");
  if (!ALGORITHMS.has(algorithm.name.toUpperCase()))
    throw refused(`the algorithm "${algorithm.name.slice(0, 64)}" is not offered`);
  const { hash, iterations, length, modulusLength, publicExponent } = algorithm;
  if (hash !== undefined) checkAlgorithm(hash, 0);
  if (Number(length ?? 0) > LENGTH_LIMIT_BITS) throw refused(`a length of more than ${LENGTH_LIMIT_BITS} bits`);
  const rounds = Number(iterations ?? 0);
  if (rounds > ROUNDS_LIMIT || rounds * Math.ceil(bits / BLOCK_BITS) > ROUNDS_OF_BLOCKS_LIMIT)
    throw refused(`more than ${ROUNDS_LIMIT} iterations, or too many for so long a result`);
  if (modulusLength !== undefined && Number(modulusLength) > MODULUS_LIMIT_BITS)
    throw refused(`an RSA key of more than ${MODULUS_LIMIT_BITS} bits`);
  if (publicExponent !== undefined) checkExponent(publicExponent);
}

function checkExponent(exponent: unknown): void {
  const digits =
    exponent instanceof Uint8Array
      ? Buffer.from(exponent)
          .toString("hex")
          .replace(/^(?:00)+/, "")
      : "";
  if (!EXPONENTS.includes(digits)) throw refused("a public exponent of RSA is 3 or 65537");
}

/** A key that was imported: its size is known only now. */
function checkKey({ algorithm }: Key): void {
  const { modulusLength, publicExponent } = algorithm as { modulusLength?: number; publicExponent?: Uint8Array };
  if (modulusLength === undefined) return;
  if (modulusLength > MODULUS_LIMIT_BITS) throw refused(`an RSA key of more than ${MODULUS_LIMIT_BITS} bits`);
  checkExponent(publicExponent);
}

export function hostCrypto(): HostCrypto {
  const { subtle } = webcrypto;
  const secret = randomBytes(32);

  function seal(key: Sealed): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(SEAL, secret, nonce);
    const box = Buffer.concat([cipher.update(JSON.stringify(key)), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), box]).toString("base64");
  }

  function opened(text: string): Sealed {
    const bytes = Buffer.from(text, "base64");
    try {
      const decipher = createDecipheriv(SEAL, secret, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const box = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      return JSON.parse(Buffer.concat([box, decipher.final()]).toString()) as Sealed;
    } catch (cause) {
      throw new DOMException("this key is of no use any more", { name: "InvalidAccessError", cause });
    }
  }

  async function keyOf(text: string): Promise<Key> {
    const { format, data, algorithm, extractable, usages } = opened(text);
    const bytes = Buffer.from(data, "base64");
    return subtle.importKey(format, bytes, (await decoded(algorithm)) as { name: string }, extractable, [...usages]);
  }

  async function decoded(value: Json | undefined): Promise<unknown> {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return Promise.all(value.map(decoded));
    const given = value as { readonly [key: string]: Json };
    if (typeof given.$bytes === "string") return new Uint8Array(Buffer.from(given.$bytes, "base64"));
    if (typeof given.$key === "string") return keyOf(given.$key);
    const items = await Promise.all(Object.entries(given).map(async ([name, item]) => [name, await decoded(item)]));
    return Object.fromEntries(items) as unknown;
  }

  /** `key` was made so that it can be exported; `data` are its bytes, where it never can be. */
  async function keyAnswer(key: Key, extractable: boolean, data?: Uint8Array): Promise<Json> {
    checkKey(key);
    const format = key.type === "secret" ? "raw" : key.type === "public" ? "spki" : "pkcs8";
    const bytes = data ?? new Uint8Array(await subtle.exportKey(format, key));
    const algorithm = encoded(key.algorithm);
    const facts = { type: key.type, extractable, algorithm, usages: key.usages };
    const text = Buffer.from(bytes).toString("base64");
    return { $key: seal({ format, data: text, algorithm, extractable, usages: key.usages }), facts };
  }

  function encoded(value: unknown): Json {
    if (value instanceof ArrayBuffer) return { $bytes: Buffer.from(value).toString("base64") };
    if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
    if (!isRecord(value)) return (Array.isArray(value) ? value.map(encoded) : value) as Json;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, encoded(item)]));
  }

  /** Makes a key extractable, so that it can be sealed, and says what was asked for. */
  async function imported(args: readonly unknown[]): Promise<Json> {
    const [format, given, algorithm, wanted, usages] = args as [
      "raw",
      webcrypto.JsonWebKey,
      { name: string },
      unknown,
      webcrypto.KeyUsage[],
    ];
    const extractable = wanted === true;
    // The guest's own copy may not be exported; the one that is sealed has to be.
    const { ext: _, ...rest } = given;
    const isSecretJwk = (format as string) === "jwk" && !extractable;
    const data = (isSecretJwk ? rest : given) as Uint8Array<ArrayBuffer>;
    const derives = /^(?:PBKDF2|HKDF)$/i.test(algorithm.name);
    const key = await subtle.importKey(
      format,
      data as Uint8Array<ArrayBuffer>,
      algorithm,
      !derives || extractable,
      usages,
    );
    return keyAnswer(key, extractable, derives ? data : undefined);
  }

  async function generated(args: readonly unknown[]): Promise<Json> {
    const [algorithm, extractable, usages] = args as [{ name: string }, unknown, webcrypto.KeyUsage[]];
    const made = await subtle.generateKey(algorithm, true, usages);
    if (!("publicKey" in made)) return keyAnswer(made, extractable === true);
    const publicKey = await keyAnswer(made.publicKey, true);
    return { publicKey, privateKey: await keyAnswer(made.privateKey, extractable === true) };
  }

  return {
    async run(method, given) {
      if (!Object.hasOwn(METHODS, method)) throw new TypeError("there is no such method");
      const args = (await decoded(given)) as unknown[];
      const bits = method === "deriveBits" ? Number(args[2] ?? 0) : method === "deriveKey" ? derivedBits(args[2]) : 0;
      if (!(bits >= 0 && bits <= LENGTH_LIMIT_BITS)) throw refused(`more than ${LENGTH_LIMIT_BITS} bits`);
      for (const at of METHODS[method as CryptoMethod]) checkAlgorithm(args[at], bits);
      if (method === "importKey") return imported(args);
      if (method === "generateKey") return generated(args);
      if (method === "deriveKey" || method === "unwrapKey") return keyFrom(method, args);
      const call = subtle[method as "digest"] as (...args: unknown[]) => Promise<unknown>;
      return encoded(await Reflect.apply(call, subtle, args));
    },
  };

  async function keyFrom(method: "deriveKey" | "unwrapKey", args: readonly unknown[]): Promise<Json> {
    const call = subtle[method] as (...args: unknown[]) => Promise<Key>;
    const at = args.length - 2;
    const derives = /^(?:PBKDF2|HKDF)$/i.test((args[method === "deriveKey" ? 2 : 4] as { name: string }).name);
    if (derives) throw refused(`a key of this algorithm cannot come from ${method}`);
    return keyAnswer(await Reflect.apply(call, subtle, args.with(at, true)), args[at] === true);
  }
}

/** How much is derived for a key of an algorithm; HMAC without a length takes its digest's block. */
function derivedBits(algorithm: unknown): number {
  return isRecord(algorithm) ? Number(algorithm.length ?? 1024) : 0;
}
