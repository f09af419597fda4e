import {
  createDeflate,
  createDeflateRaw,
  createGunzip,
  createGzip,
  createInflate,
  createInflateRaw,
  type Gzip,
} from "node:zlib";
import { type HostJob, PRESS_STEP_BYTES, PRESSES_MAX, type PressAnswer } from "../guest/guest-protocol.ts";

type PressJob = Extract<HostJob, { job: "press" }>;
/** Every stream of node:zlib has the shape of this one. */
type Zlib = Gzip;

/** One guest's streams that pack and unpack. */
export type HostPresses = {
  /** Rejects with a TypeError for bytes that are not of the format, and with a RangeError for one stream too many. */
  step(job: PressJob): Promise<PressAnswer>;
  drop(stream: number): void;
  close(): void;
};

/** Of one answer, bytes: what unpacks to more waits in the stream, which then takes nothing in. */
const ANSWER_LIMIT_BYTES = 256 * 1024;
const STRICT = { rejectGarbageAfterEnd: true };
const OPENERS: Readonly<Record<string, () => Zlib>> = {
  "pack gzip": () => createGzip(),
  "pack deflate": () => createDeflate() as Zlib,
  "pack deflate-raw": () => createDeflateRaw() as Zlib,
  "unpack gzip": () => createGunzip(STRICT) as Zlib,
  "unpack deflate": () => createInflate(STRICT) as Zlib,
  "unpack deflate-raw": () => createInflateRaw(STRICT) as Zlib,
};

type Press = {
  step(data: Buffer, end: boolean): Promise<PressAnswer & { readonly over: boolean }>;
  destroy(): void;
};

function openPress(zlib: Zlib): Press {
  /** What went in last is not all through yet. */
  let working = false;
  let ended = false;
  let failure: Error | undefined;
  /** Of the step that waits. */
  let look = () => {};
  zlib.on("readable", () => look());
  zlib.on("end", () => {
    ended = true;
    working = false;
    look();
  });
  zlib.on("error", (error) => {
    failure = error;
    look();
  });

  return {
    step(data, end) {
      const { promise, resolve, reject } = Promise.withResolvers<PressAnswer & { readonly over: boolean }>();
      const chunks: Buffer[] = [];
      let size = 0;
      look = () => {
        for (let chunk: Buffer | null; size < ANSWER_LIMIT_BYTES; size += chunk.length) {
          chunk = zlib.read() as Buffer | null;
          if (chunk === null) break;
          chunks.push(chunk);
        }
        if (failure) reject(failure);
        else if (size >= ANSWER_LIMIT_BYTES || !working)
          resolve({ data: Buffer.concat(chunks).toString("base64"), more: working, over: ended });
      };
      if (data.length > 0 || end) {
        working = true;
        if (end) zlib.end(data);
        else
          zlib.write(data, () => {
            working = false;
            look();
          });
      }
      look();
      return promise;
    },
    destroy: () => void zlib.destroy(),
  };
}

export function hostPresses(): HostPresses {
  const open = new Map<number, Press>();

  function drop(stream: number): void {
    open.get(stream)?.destroy();
    open.delete(stream);
  }

  function pressOf({ stream, way, format }: PressJob): Press {
    const known = open.get(stream);
    if (known) return known;
    if (open.size >= PRESSES_MAX) throw new RangeError(`more than ${PRESSES_MAX} streams that pack or unpack at once`);
    const opener = Object.hasOwn(OPENERS, `${way} ${format}`) ? OPENERS[`${way} ${format}`] : undefined;
    if (!opener) throw new TypeError("there is no such format");
    const press = openPress(opener());
    open.set(stream, press);
    return press;
  }

  return {
    async step(job) {
      const data = Buffer.from(job.data, "base64");
      if (data.length > PRESS_STEP_BYTES) throw new RangeError(`more than ${PRESS_STEP_BYTES} bytes in one step`);
      const press = pressOf(job);
      try {
        const { over, ...answer } = await press.step(data, job.end);
        if (over) drop(job.stream);
        return answer;
      } catch (cause) {
        drop(job.stream);
        throw new TypeError(`the data is not valid ${job.format}`, { cause });
      }
    },
    drop,
    close() {
      for (const stream of [...open.keys()]) drop(stream);
    },
  };
}
