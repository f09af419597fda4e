/** So much of a call is read as fast as it comes: more than anybody keeps, or waits for. */
const AT_ONCE_BYTES = 1024 * 1024;
/** After that so much is followed by a rest, which makes a flood one of at most 6 MiB a second. */
const PIECE_BYTES = 64 * 1024;
const REST_MS = 10;
/** The smallest message costs the time that so many bytes of a large one do. */
const LEAST_BYTES = 16 * 1024;

/**
 * What follows each message of a call, of `bytes` bytes: nothing, or a rest once the call has said a lot. The plugin then
 * waits for its reader, and the conversations that have no part in it do not.
 */
export function paceReading(): (bytes: number) => Promise<void> | undefined {
  let total = 0;
  let sinceRest = 0;
  return (bytes) => {
    const counted = Math.max(LEAST_BYTES, bytes);
    total += counted;
    if (total <= AT_ONCE_BYTES) return undefined;
    sinceRest += counted;
    if (sinceRest < PIECE_BYTES) return undefined;
    sinceRest = 0;
    return new Promise((resolve) => setTimeout(resolve, REST_MS));
  };
}
