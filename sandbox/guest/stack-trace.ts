/** What `stack` of an error shows: the guest's own lines. Runs inside the isolate. */

/** V8's CallSite, as far as it is needed. */
type Frame = { getScriptNameOrSourceURL(): unknown };

/** The names under which our own code runs; what it is called by is the host alone. */
const OURS: readonly unknown[] = ["clawd:prelude", "clawd:library"];

const { apply } = Reflect;
const errorToString = Error.prototype.toString;
const StringOf = String;

let lastRead: unknown;

/** The error whose stack was made last; undefined once it was asked for. */
export function lastStackRead(): unknown {
  const error = lastRead;
  lastRead = undefined;
  return error;
}

/** V8 calls it when a stack is first read, so that the head has the name and the message that the error has then. */
function prepareStackTrace(error: unknown, frames: readonly Frame[]): string {
  let text: string;
  lastRead = error;
  try {
    text = apply(errorToString, error, []) as string;
  } catch {
    text = "Error";
  }
  for (let at = 0; at < frames.length; at += 1) {
    const frame = frames[at] as Frame;
    const file = frame.getScriptNameOrSourceURL();
    if (file !== OURS[0] && file !== OURS[1]) text += `\n    at ${StringOf(frame)}`;
  }
  return text;
}

export function installStackTraces(): void {
  Object.defineProperty(Error, "prepareStackTrace", { value: prepareStackTrace, writable: true, configurable: true });
}
