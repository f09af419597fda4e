/**
 * crypto.subtle: a library of its own that is loaded when a guest first touches it. The host computes; a key is a text that
 * it has sealed, so that no code in here can read what is in it. Runs inside the isolate.
 */

import { bytesOf, isBufferSource } from "./buffer-source.ts";
import type { DOMException } from "./dom-exception.ts";
import type { CryptoMethod, Json, KeyFacts } from "./guest-protocol.ts";

/** What of the prelude it is made over. */
export type CryptoParts = {
  /** The host's answer; rejects with what the standard has for it. */
  readonly ask: (method: CryptoMethod, args: readonly Json[]) => Promise<Json>;
  readonly base64OfBytes: (bytes: Uint8Array) => string;
  readonly bytesOfBase64: (text: string) => Uint8Array<ArrayBuffer>;
  readonly DOMException: typeof DOMException;
  /** The method that structuredClone copies an object with. */
  readonly cloned: symbol;
};

/** Largest input of one call, bytes: what one text to the host can carry. */
const INPUT_LIMIT_BYTES = 4 * 1024 * 1024;
const KEY = {};
/** Members of the dictionaries that name an algorithm, by what they are. */
const BYTE_FIELDS = ["iv", "additionalData", "counter", "salt", "info", "label", "publicExponent"];
const NUMBER_FIELDS = ["length", "iterations", "tagLength", "saltLength", "modulusLength"];
const KEY_FORMATS: readonly unknown[] = ["raw", "pkcs8", "spki", "jwk"];

export function subtleCrypto({ ask, base64OfBytes, bytesOfBase64, DOMException, cloned }: CryptoParts) {
  let sealOf: (key: CryptoKey) => string;
  let copyOf: (key: CryptoKey) => CryptoKey;

  class CryptoKey {
    readonly #seal: string;
    readonly #facts: KeyFacts;
    readonly #algorithm: object;
    readonly #usages: string[];

    static {
      sealOf = (key) => key.#seal;
      copyOf = (key) => new CryptoKey(KEY, key.#seal, key.#facts);
    }

    constructor(key?: object, seal = "", facts: KeyFacts | null = null) {
      if (key !== KEY || facts === null) throw new TypeError("Illegal constructor");
      this.#seal = seal;
      this.#facts = facts;
      this.#algorithm = decoded(facts.algorithm) as object;
      this.#usages = [...facts.usages];
    }

    get type(): string {
      return this.#facts.type;
    }
    get extractable(): boolean {
      return this.#facts.extractable;
    }
    get algorithm(): object {
      return this.#algorithm;
    }
    get usages(): string[] {
      return this.#usages;
    }

    [Symbol.for("Deno.customInspect")](inspect: (value: unknown) => string): string {
      const { type, extractable, algorithm, usages } = this;
      return `CryptoKey ${inspect({ type, extractable, algorithm, usages })}`;
    }

    get [Symbol.toStringTag](): string {
      return "CryptoKey";
    }
  }

  Object.defineProperty(CryptoKey.prototype, cloned, {
    value(this: CryptoKey) {
      return copyOf(this);
    },
  });

  /** A copy of the bytes as they are now. */
  function encodedBytes(data: unknown, taker: string): Json {
    if (!isBufferSource(data)) throw new TypeError(`${taker} takes an ArrayBuffer or a view of one`);
    const bytes = bytesOf(data, taker);
    if (bytes.length > INPUT_LIMIT_BYTES)
      throw new DOMException(`${bytes.length} bytes at once; ${INPUT_LIMIT_BYTES} are the limit`, "QuotaExceededError");
    return { $bytes: base64OfBytes(bytes) };
  }

  function encodedKey(key: unknown, taker: string): Json {
    if (!(key instanceof CryptoKey)) throw new TypeError(`${taker} takes a CryptoKey`);
    return { $key: sealOf(key) };
  }

  function encodedAlgorithm(algorithm: unknown, taker: string): Json {
    if (typeof algorithm !== "object" || algorithm === null) return { name: String(algorithm) };
    const given = algorithm as Record<string, unknown>;
    if (given.name === undefined) throw new TypeError(`${taker} takes an algorithm with a name`);
    const result: Record<string, Json> = { name: String(given.name) };
    if (given.hash !== undefined) result.hash = encodedAlgorithm(given.hash, taker);
    if (given.namedCurve !== undefined) result.namedCurve = String(given.namedCurve);
    if (given.public !== undefined) result.public = encodedKey(given.public, taker);
    for (const field of NUMBER_FIELDS) {
      const value = given[field];
      if (value === undefined) continue;
      if (!Number.isFinite(Number(value))) throw new TypeError(`${taker}: ${field} is a number`);
      result[field] = Math.trunc(Number(value));
    }
    for (const field of BYTE_FIELDS)
      if (given[field] !== undefined) result[field] = encodedBytes(given[field], `${taker}: ${field}`);
    return result;
  }

  function encodedUsages(usages: unknown, taker: string): Json {
    if (typeof usages !== "object" || usages === null || !(Symbol.iterator in usages))
      throw new TypeError(`${taker} takes a sequence of usages`);
    return Array.from(usages as Iterable<unknown>, String);
  }

  function encodedFormat(format: unknown, taker: string): string {
    if (!KEY_FORMATS.includes(format)) throw new TypeError(`${taker}: '${String(format)}' is no format of a key`);
    return format as string;
  }

  function encodedKeyData(format: string, data: unknown, taker: string): Json {
    if (format !== "jwk") return encodedBytes(data, taker);
    if (typeof data !== "object" || data === null || isBufferSource(data))
      throw new TypeError(`${taker} takes a JsonWebKey`);
    return JSON.parse(JSON.stringify(data)) as Json;
  }

  function decoded(value: Json): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(decoded);
    const given = value as { readonly [key: string]: Json };
    if (typeof given.$bytes === "string") return bytesOfBase64(given.$bytes);
    if (typeof given.$key === "string") return new CryptoKey(KEY, given.$key, given.facts as unknown as KeyFacts);
    return Object.fromEntries(Object.entries(given).map(([name, item]) => [name, decoded(item)]));
  }

  async function buffer(method: CryptoMethod, args: readonly Json[]): Promise<ArrayBuffer> {
    return (decoded(await ask(method, args)) as Uint8Array<ArrayBuffer>).buffer;
  }

  async function key(method: CryptoMethod, args: readonly Json[]): Promise<unknown> {
    return decoded(await ask(method, args));
  }

  class SubtleCrypto {
    constructor(key?: object) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
    }

    async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
      const named = encodedAlgorithm(algorithm, "crypto.subtle.digest");
      return buffer("digest", [named, encodedBytes(data, "crypto.subtle.digest")]);
    }

    async encrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
      return buffer("encrypt", ciphered("crypto.subtle.encrypt", algorithm, key, data));
    }

    async decrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
      return buffer("decrypt", ciphered("crypto.subtle.decrypt", algorithm, key, data));
    }

    async sign(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
      return buffer("sign", ciphered("crypto.subtle.sign", algorithm, key, data));
    }

    async verify(algorithm: unknown, key: unknown, signature: unknown, data: unknown): Promise<boolean> {
      const taker = "crypto.subtle.verify";
      const [named = null, sealed = null, bytes = null] = ciphered(taker, algorithm, key, data);
      return (await ask("verify", [named, sealed, encodedBytes(signature, taker), bytes])) === true;
    }

    async generateKey(algorithm: unknown, extractable: unknown, usages: unknown): Promise<unknown> {
      const taker = "crypto.subtle.generateKey";
      return key("generateKey", [
        encodedAlgorithm(algorithm, taker),
        Boolean(extractable),
        encodedUsages(usages, taker),
      ]);
    }

    async importKey(
      format: unknown,
      data: unknown,
      algorithm: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      const taker = "crypto.subtle.importKey";
      const kind = encodedFormat(format, taker);
      return key("importKey", [
        kind,
        encodedKeyData(kind, data, taker),
        encodedAlgorithm(algorithm, taker),
        Boolean(extractable),
        encodedUsages(usages, taker),
      ]);
    }

    async exportKey(format: unknown, from: unknown): Promise<unknown> {
      const taker = "crypto.subtle.exportKey";
      const exported = await key("exportKey", [encodedFormat(format, taker), encodedKey(from, taker)]);
      return exported instanceof Uint8Array ? exported.buffer : exported;
    }

    async deriveBits(algorithm: unknown, base: unknown, length: unknown = null): Promise<ArrayBuffer> {
      const taker = "crypto.subtle.deriveBits";
      const bits = length === null ? null : Math.trunc(Number(length));
      return buffer("deriveBits", [encodedAlgorithm(algorithm, taker), encodedKey(base, taker), bits]);
    }

    async deriveKey(
      algorithm: unknown,
      base: unknown,
      derived: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      const taker = "crypto.subtle.deriveKey";
      return key("deriveKey", [
        encodedAlgorithm(algorithm, taker),
        encodedKey(base, taker),
        encodedAlgorithm(derived, taker),
        Boolean(extractable),
        encodedUsages(usages, taker),
      ]);
    }

    async wrapKey(format: unknown, from: unknown, wrapping: unknown, algorithm: unknown): Promise<ArrayBuffer> {
      const taker = "crypto.subtle.wrapKey";
      return buffer("wrapKey", [
        encodedFormat(format, taker),
        encodedKey(from, taker),
        encodedKey(wrapping, taker),
        encodedAlgorithm(algorithm, taker),
      ]);
    }

    async unwrapKey(
      format: unknown,
      data: unknown,
      unwrapping: unknown,
      algorithm: unknown,
      unwrapped: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      const taker = "crypto.subtle.unwrapKey";
      return key("unwrapKey", [
        encodedFormat(format, taker),
        encodedBytes(data, taker),
        encodedKey(unwrapping, taker),
        encodedAlgorithm(algorithm, taker),
        encodedAlgorithm(unwrapped, taker),
        Boolean(extractable),
        encodedUsages(usages, taker),
      ]);
    }

    get [Symbol.toStringTag](): string {
      return "SubtleCrypto";
    }
  }

  function ciphered(taker: string, algorithm: unknown, key: unknown, data: unknown): Json[] {
    return [encodedAlgorithm(algorithm, taker), encodedKey(key, taker), encodedBytes(data, taker)];
  }

  return { CryptoKey, SubtleCrypto, subtle: new SubtleCrypto(KEY) };
}
