/** crypto: random values and digests, which the host makes. Runs inside the isolate. */

import { base64OfBytes, bytesOfBase64 } from "./base64.ts";
import type { BrokerCalls } from "./broker-call.ts";
import { bytesOf, isBufferSource } from "./buffer-source.ts";
import { DOMException } from "./dom-exception.ts";
import { HOST_WORDS, RANDOM_BYTES_MAX } from "./guest-protocol.ts";

type AskHost = (word: string, question: string | number) => string;

const ALGORITHMS = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"];
/** Largest input of a digest, bytes: what one text to the host can carry. */
const DIGEST_LIMIT_BYTES = 4 * 1024 * 1024;
/** Methods of SubtleCrypto that are left out. */
const LEFT_OUT = [
  "encrypt",
  "decrypt",
  "sign",
  "verify",
  "generateKey",
  "deriveKey",
  "deriveBits",
  "importKey",
  "exportKey",
  "wrapKey",
  "unwrapKey",
];
const INTEGERS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  BigInt64Array,
  BigUint64Array,
];
const KEY = {};

function algorithmName(algorithm: unknown): string {
  const wanted =
    typeof algorithm === "object" && algorithm !== null ? (algorithm as { name?: unknown }).name : algorithm;
  const found = ALGORITHMS.find((name) => name === String(wanted).toUpperCase());
  if (found) return found;
  throw new DOMException(
    `the algorithm "${String(wanted)}" is not offered: ${ALGORITHMS.join(", ")} are`,
    "NotSupportedError",
  );
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function guestCrypto(askHost: AskHost, broker: BrokerCalls) {
  function randomBytes(count: number): Uint8Array {
    const bytes = bytesOfBase64(askHost(HOST_WORDS.random, count));
    if (bytes.length !== count) throw new DOMException("the host gave no random bytes", "OperationError");
    return bytes;
  }

  class SubtleCrypto {
    constructor(key?: object) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
    }

    async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
      const name = algorithmName(algorithm);
      if (!isBufferSource(data)) throw new TypeError("crypto.subtle.digest takes an ArrayBuffer or a view of one");
      const bytes = bytesOf(data, "crypto.subtle.digest");
      if (bytes.length > DIGEST_LIMIT_BYTES)
        throw new RangeError(`a digest of ${bytes.length} bytes; ${DIGEST_LIMIT_BYTES} are the limit`);
      const answer = await broker.wait((id) => {
        askHost(HOST_WORDS.digest, JSON.stringify({ id, algorithm: name, data: base64OfBytes(bytes) }));
      });
      return bytesOfBase64(String(answer)).buffer;
    }

    get [Symbol.toStringTag](): string {
      return "SubtleCrypto";
    }
  }
  for (const name of LEFT_OUT) {
    const value = async () => {
      throw new DOMException(`crypto.subtle.${name} is not offered`, "NotSupportedError");
    };
    Object.defineProperty(SubtleCrypto.prototype, name, { value, writable: true, configurable: true });
  }

  class Crypto {
    readonly #subtle = new SubtleCrypto(KEY);

    constructor(key?: object) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
    }

    get subtle(): SubtleCrypto {
      return this.#subtle;
    }

    getRandomValues<T>(array: T): T {
      if (!INTEGERS.some((kind) => array instanceof kind))
        throw new DOMException("crypto.getRandomValues takes a typed array of integers", "TypeMismatchError");
      const bytes = bytesOf(array, "crypto.getRandomValues");
      if (bytes.length > RANDOM_BYTES_MAX)
        throw new DOMException(
          `${bytes.length} random bytes at once; ${RANDOM_BYTES_MAX} are the limit`,
          "QuotaExceededError",
        );
      if (bytes.length > 0) bytes.set(randomBytes(bytes.length));
      return array;
    }

    get [Symbol.toStringTag](): string {
      return "Crypto";
    }
  }
  const uuid = () => {
    const bytes = randomBytes(16);
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    const parts = [bytes.subarray(0, 4), bytes.subarray(4, 6), bytes.subarray(6, 8), bytes.subarray(8, 10)];
    return [...parts, bytes.subarray(10)].map(hex).join("-");
  };
  Object.defineProperty(Crypto.prototype, "randomUUID", { value: uuid, writable: true, configurable: true });
  return { Crypto, SubtleCrypto, crypto: new Crypto(KEY) };
}
