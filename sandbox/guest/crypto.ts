/** crypto: random values, which the host makes; the rest of it is loaded when it is touched. Runs inside the isolate. */

import { base64OfBytes, bytesOfBase64 } from "./base64.ts";
import { bytesOf } from "./buffer-source.ts";
import { DOMException } from "./dom-exception.ts";
import { CLONED } from "./guest-clone.ts";
import { HOST_WORDS, RANDOM_BYTES_MAX } from "./guest-protocol.ts";
import type { HostJobs } from "./host-jobs.ts";
import type { Loader } from "./lazy-library.ts";
import type { subtleCrypto } from "./subtle-crypto.ts";

type AskHost = (word: string, question: string | number) => string;
type Subtle = ReturnType<typeof subtleCrypto>;

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

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** `classes` are the globals that come with `crypto.subtle`. */
export function guestCrypto(askHost: AskHost, jobs: HostJobs, load: Loader) {
  let made: Subtle | undefined;

  function classes(): Subtle {
    const library = load("crypto") as { readonly subtleCrypto: typeof subtleCrypto };
    made ??= library.subtleCrypto({
      ...{ base64OfBytes, bytesOfBase64, DOMException, cloned: CLONED },
      ask: (method, args) => jobs.run({ job: "crypto", method, args }),
    });
    return made;
  }

  function randomBytes(count: number): Uint8Array {
    const bytes = bytesOfBase64(askHost(HOST_WORDS.random, count));
    if (bytes.length !== count) throw new DOMException("the host gave no random bytes", "OperationError");
    return bytes;
  }

  class Crypto {
    constructor(key?: object) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
    }

    get subtle(): Subtle["subtle"] {
      return classes().subtle;
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
  return { surface: { Crypto, crypto: new Crypto(KEY) }, classes };
}
