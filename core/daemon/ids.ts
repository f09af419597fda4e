/** Crockford's alphabet: no letter that is mistaken for another. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARS = 9;
const RANDOM_CHARS = 7;

/**
 * Makes ids that sort by time and that nobody guesses: nine characters of milliseconds, seven of chance.
 * `randomBytes` gives that many fresh random bytes.
 */
export function idMaker(now: () => number, randomBytes: (count: number) => Uint8Array): () => string {
  return () => {
    let time = "";
    for (let rest = now(); time.length < TIME_CHARS; rest = Math.floor(rest / 32)) time = ALPHABET[rest % 32] + time;
    let chance = "";
    for (const byte of randomBytes(RANDOM_CHARS)) chance += ALPHABET[byte % 32];
    return time + chance;
  };
}
