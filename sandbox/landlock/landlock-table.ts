/**
 * The table that the program of `landlock-program.ts` reads: which rights Landlock handles, and which of them it gives
 * beneath which paths. What is handled and not given is refused.
 */

/** Rights to files, by their bits in the kernel's `landlock.h`. */
const RIGHT = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readFolder: 1 << 3,
  removeFolder: 1 << 4,
  removeFile: 1 << 5,
  makeCharacterDevice: 1 << 6,
  makeFolder: 1 << 7,
  makeFile: 1 << 8,
  makeSocket: 1 << 9,
  makePipe: 1 << 10,
  makeBlockDevice: 1 << 11,
  makeLink: 1 << 12,
  /** Moving and linking from one folder to another. */
  refer: 1 << 13,
  truncate: 1 << 14,
  controlDevice: 1 << 15,
} as const;

/** All that there is in the first ABI. */
const FIRST_RIGHTS = RIGHT.refer - 1;
const BIND_TCP = 1 << 0;
const CONNECT_TCP = 1 << 1;
const SCOPE_ABSTRACT_SOCKETS = 1 << 0;
const SCOPE_SIGNALS = 1 << 1;

/** Below it nothing can be moved between folders, whatever is given: Linux before 5.19. */
export const OLDEST_ABI = 2;
const ABI_OF = { truncate: 3, tcp: 4, controlDevice: 5, scopes: 6 } as const;

/** The rights that there are to what is no folder; the kernel refuses a rule that gives others to a file. */
const OF_FILES = RIGHT.execute | RIGHT.writeFile | RIGHT.readFile | RIGHT.truncate | RIGHT.controlDevice;

const READING = RIGHT.execute | RIGHT.readFile | RIGHT.readFolder;

/**
 * `list`: which names there are. `read`: what is in the files as well, and to run them. `write`: all but the making of
 * devices. `devices`: to use the devices that are there.
 */
export type WallAccess = "list" | "read" | "write" | "devices";

const GIVEN: Readonly<Record<WallAccess, number>> = {
  list: RIGHT.readFolder,
  read: READING,
  write:
    READING |
    RIGHT.writeFile |
    RIGHT.removeFolder |
    RIGHT.removeFile |
    RIGHT.makeFolder |
    RIGHT.makeFile |
    RIGHT.makeSocket |
    RIGHT.makePipe |
    RIGHT.makeLink |
    RIGHT.refer |
    RIGHT.truncate |
    RIGHT.controlDevice,
  devices: RIGHT.readFile | RIGHT.readFolder | RIGHT.writeFile | RIGHT.truncate | RIGHT.controlDevice,
};

/** What is given beneath a path: an absolute one, without links, as it is when the walls are put up. */
export type WallRule = { readonly path: string; readonly isFolder: boolean; readonly access: WallAccess };

export type Walls = {
  readonly rules: readonly WallRule[];
  /** True when no TCP port is to be bound or connected to. */
  readonly isTcpShut: boolean;
  /** The size of one file that it writes, bytes; undefined when somebody else holds it to that, or nobody. */
  readonly fileLimitBytes: number | undefined;
};

const FIRST_WORD = "clwalls1";
const HEAD_BYTES = 16;
const LENGTH_AT = 8;
const SUM_AT = 12;
const FILE_LIMIT_AT = 16;
const ATTRIBUTE_SIZE_AT = 32;
const ATTRIBUTE_AT = 40;
const RULES_AT = 64;
const WORD_BYTES = 8;
const UNLIMITED = 0xffff_ffff_ffff_ffffn;

/** The table for a kernel of that ABI, at least `OLDEST_ABI`: walls that it does not know are left out. */
export function buildTable({ rules, isTcpShut, fileLimitBytes }: Walls, abi: number): Buffer {
  const handled = handledRights(abi);
  const records = rules.flatMap((rule) => {
    const given = GIVEN[rule.access] & handled & (rule.isFolder ? handled : OF_FILES);
    return given === 0 ? [] : [encodeRule(rule.path, given)];
  });
  const head = Buffer.alloc(RULES_AT);
  const limit = fileLimitBytes === undefined ? UNLIMITED : BigInt(fileLimitBytes);
  head.write(FIRST_WORD, "latin1");
  head.writeBigUInt64LE(limit, FILE_LIMIT_AT);
  head.writeBigUInt64LE(limit, FILE_LIMIT_AT + WORD_BYTES);
  const attribute = [
    handled,
    isTcpShut && abi >= ABI_OF.tcp ? BIND_TCP | CONNECT_TCP : 0,
    abi >= ABI_OF.scopes ? SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS : 0,
  ];
  head.writeUInt32LE(attributeWords(abi) * WORD_BYTES, ATTRIBUTE_SIZE_AT);
  for (const [index, bits] of attribute.entries()) head.writeUInt32LE(bits, ATTRIBUTE_AT + index * WORD_BYTES);
  const table = Buffer.concat([head, ...records]);
  table.writeUInt32LE(table.length - HEAD_BYTES, LENGTH_AT);
  table.writeUInt32LE(sumOf(table.subarray(HEAD_BYTES)), SUM_AT);
  return table;
}

function handledRights(abi: number): number {
  return (
    FIRST_RIGHTS |
    RIGHT.refer |
    (abi >= ABI_OF.truncate ? RIGHT.truncate : 0) |
    (abi >= ABI_OF.controlDevice ? RIGHT.controlDevice : 0)
  );
}

/** An older kernel refuses an attribute that is longer than its own. */
function attributeWords(abi: number): number {
  if (abi >= ABI_OF.scopes) return 3;
  return abi >= ABI_OF.tcp ? 2 : 1;
}

function encodeRule(path: string, given: number): Buffer {
  const name = Buffer.from(path);
  const padded = Math.ceil((name.length + 1) / WORD_BYTES) * WORD_BYTES;
  const record = Buffer.alloc(WORD_BYTES + padded);
  record.writeUInt32LE(given);
  name.copy(record, WORD_BYTES);
  return record;
}

/** FNV-1a of 32 bits: a table that is cut short or spoilt is found out before anything is done. */
function sumOf(bytes: Uint8Array): number {
  let sum = 0x811c_9dc5;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x0100_0193);
  return sum >>> 0;
}
