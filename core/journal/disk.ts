import {
  close as closeFile,
  constants,
  fdatasync,
  fstat,
  fsync,
  ftruncate,
  open as openFile,
  write,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";

/**
 * What the journal asks of a disk. Every method rejects with the system's own error (`code` "ENOSPC" and so on);
 * a port of its own so that a test can let a disk fail where a real one seldom does.
 */
export type Disk = {
  /** Opens for reading and writing. "create" makes the file and fails with EEXIST when there is one. */
  open(path: string, how: "create" | "existing"): Promise<DiskFile>;
  /** Makes the names in a folder durable. */
  syncFolder(path: string): Promise<void>;
};

export type DiskFile = {
  /** Tells this file from another one under the same name. */
  readonly inode: number;
  /** Size when it was opened, bytes. */
  readonly sizeBytes: number;
  /** Writes all the bytes, or rejects with an unknown part of them written. */
  write(bytes: Buffer, offset: number): Promise<void>;
  /** Resolves when all that was written is durable. */
  sync(): Promise<void>;
  truncate(sizeBytes: number): Promise<void>;
  close(): Promise<void>;
};

/**
 * Up to this size a write is done at once: it is a copy into the page cache, a few microseconds, where a trip through
 * the thread pool costs fifty. The sync, which is what takes time, always goes through the pool.
 */
const INLINE_WRITE_LIMIT_BYTES = 64 * 1024;

const OWNER_ONLY = 0o600;
// A file that was put there by hand may be a link or a pipe: neither is followed, and opening a pipe must not hang.
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;
const EXISTING = O_RDWR | O_NOFOLLOW | O_NONBLOCK;

const opened = promisify(openFile);
const closed = promisify(closeFile);
const stats = promisify(fstat);
const written = promisify(write);
const dataSynced = promisify(fdatasync);
const synced = promisify(fsync);
const truncated = promisify(ftruncate);

/** The disk of this machine. */
export const systemDisk: Disk = {
  async open(path, how) {
    const fd = await opened(path, how === "create" ? EXISTING | O_CREAT | O_EXCL : EXISTING, OWNER_ONLY);
    try {
      const found = await stats(fd);
      if (found.isFile()) return systemFile(fd, found.ino, found.size);
      throw Object.assign(new Error("it is not a regular file"), { code: "EINVAL" });
    } catch (cause) {
      await closed(fd);
      throw cause;
    }
  },
  async syncFolder(path) {
    const fd = await opened(path, O_RDONLY | O_DIRECTORY);
    try {
      await synced(fd);
    } finally {
      await closed(fd);
    }
  },
};

function systemFile(fd: number, inode: number, sizeBytes: number): DiskFile {
  return {
    inode,
    sizeBytes,
    async write(bytes, offset) {
      // A write may do less than asked; the next one then says why, or finishes the job.
      for (let done = 0; done < bytes.length; ) {
        const left = bytes.length - done;
        done +=
          left <= INLINE_WRITE_LIMIT_BYTES
            ? writeSync(fd, bytes, done, left, offset + done)
            : (await written(fd, bytes, done, left, offset + done)).bytesWritten;
      }
    },
    sync: () => dataSynced(fd),
    truncate: (to) => truncated(fd, to),
    close: () => closed(fd),
  };
}
