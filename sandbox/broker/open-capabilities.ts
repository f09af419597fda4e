import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Egress } from "../egress/egress.ts";
import { openSlots } from "../egress/slots.ts";
import type { CallAnswer, CallName, Json, SysView } from "../guest/guest-protocol.ts";
import type { Launcher } from "../os/launcher.ts";
import { openAsking } from "./asking.ts";
import { openAudit } from "./audit.ts";
import { type Handlers, serveCall } from "./call-table.ts";
import type { BrokerContext, Capabilities } from "./capabilities.ts";
import { runCommand } from "./command.ts";
import { describeHandout, type Environment, viewEnvironment, viewSystem } from "./environment.ts";
import { changeMode, changeTimes, copyGuestFile, readLinkFor, realPathFor, truncateFile } from "./file-changes.ts";
import { fileFacts, listFolder, readFileBytes, readFileText } from "./file-reading.ts";
import { fileRules } from "./file-rules.ts";
import { WRITE_LIMIT_BYTES, writeGuestFile } from "./file-writing.ts";
import { makeFolder, removeEntry, renameEntry } from "./folder-changes.ts";
import type { GroundedGrant } from "./ground-grant.ts";
import type { GuestInput } from "./guest-input.ts";
import { openJudge, type Wanted } from "./judge.ts";
import { type LastingAnswer, liveGrant } from "./live-grant.ts";
import { fetchForGuest, REQUESTS_MAX } from "./network-calls.ts";
import { openedThings } from "./opened-things.ts";
import { done, type Outcome, type Refused, refuse } from "./outcome.ts";
import { queryPermission, requestPermission, revokePermission } from "./permission-calls.ts";
import {
  callTool,
  type GuestMemory,
  type HookStore,
  memoryRemember,
  memorySearch,
  storeDelete,
  storeGet,
  storeList,
  storeSet,
} from "./port-calls.ts";
import { guestSockets } from "./socket-calls.ts";
import { temporaryPlaces } from "./temporary-places.ts";

/** Wall time of one command, milliseconds. */
const COMMAND_LIMIT_MS = { hook: 60_000, script: 600_000 };

export type CapabilityOptions = {
  /** "hook:NAME" or "script:PATH". */
  readonly principal: string;
  /** Lower-case hex SHA-256 of the program. */
  readonly sourceHash: string;
  readonly grant: GroundedGrant;
  /** Absolute; the guest's relative paths start here. */
  readonly cwd: string;
  /** The daemon's environment; a guest sees of it what its grant names. */
  readonly env: Environment;
  /** Folders with programs, as in PATH; the one that the grant was grounded with. */
  readonly searchPath: string;
  /** How a denial says what would allow it. */
  readonly mode: "hook" | "script";
  /** False to deny what is neither granted nor denied without asking anybody. */
  readonly mayAsk: boolean;
  readonly launcher: Launcher;
  readonly egress: Egress;
  /** Why a path (absolute, normal) may never be written, whatever is granted; undefined when it may. */
  readonly protectedWrite: (path: string) => string | undefined;
  /**
   * Absolute real paths of the daemon's own data. A grant opens what lies there only when it names a place in it, and
   * commands do not see them.
   */
  readonly hidden: readonly string[];
  readonly store?: HookStore;
  readonly memory?: GuestMemory;
  /** What a script reads and hears from the person who runs it; a hook reads and hears nothing. */
  readonly input?: GuestInput;
  /** What people answered for longer than this guest lives. */
  readonly remembered: readonly LastingAnswer[];
  /** A clock in milliseconds. */
  readonly now: () => number;
  /** All facts about the machine by the name of their permission; a guest gets those that its grant opens. */
  readonly sysFacts: () => SysView;
};

/** Everything one guest may do outside of its isolate. Opening does nothing yet. */
export function openCapabilities(options: CapabilityOptions): Capabilities {
  const { principal, mode, mayAsk, env, now } = options;
  const live = liveGrant(options.grant, options.remembered);
  const audit = openAudit(principal, options.sourceHash, now);
  const asking = openAsking(principal);
  const judge = openJudge({ mode, mayAsk, live, asking, audit, now });
  const rules = fileRules(options.hidden, options.protectedWrite);
  const requests = openSlots(REQUESTS_MAX);
  const sockets = guestSockets();
  const temporary = temporaryPlaces(resolve("/", env.TMPDIR || "/tmp"), () => randomBytes(8).toString("hex"));
  const opened = openedThings(options.input);
  const underWay = new Map<number, AbortController>();
  let attended: { readonly context: BrokerContext; readonly handlers: Handlers } | undefined;
  let hadEffect = false;
  let closed = false;

  function handlersFor(context: BrokerContext): Handlers {
    const desk = {
      ...options,
      context,
      store: options.store,
      memory: options.memory,
      rules,
      live,
      asking,
      audit,
      programs: live.programs,
      timeoutMs: COMMAND_LIMIT_MS[mode],
      grant: () => live.current,
      admit: (wanted: Wanted) => judge(context, wanted),
      effect: () => {
        hadEffect = true;
      },
      onDenied(permission: string, because: string) {
        // The command hears of it at once, from the proxy: nothing waits for this record.
        void audit.record(context, { permission, resolved: "", allowed: false, by: "rule", because, ms: 0 }, "look");
      },
    };
    return {
      readTextFile: ({ path }) => readFileText(desk, path),
      readFile: async ({ path }) => encoded(await readFileBytes(desk, path)),
      writeTextFile: (args) => write(args.path, Buffer.from(args.data), args.options),
      writeFile: (args) => write(args.path, Buffer.from(args.data, "base64"), args.options),
      readDir: ({ path }) => listFolder(desk, path),
      stat: ({ path }) => fileFacts(desk, path, true),
      lstat: ({ path }) => fileFacts(desk, path, false),
      mkdir: (args) => makeFolder(desk, args.path, args.recursive, args.mode),
      remove: (args) => removeEntry(desk, args.path, args.recursive),
      rename: ({ from, to }) => renameEntry(desk, from, to),
      copyFile: ({ from, to }) => copyGuestFile(desk, from, to),
      truncate: ({ path, length }) => truncateFile(desk, path, length),
      chmod: (args) => changeMode(desk, args.path, args.mode),
      utime: ({ path, atime, mtime }) => changeTimes(desk, path, atime, mtime),
      realPath: ({ path }) => realPathFor(desk, path),
      readLink: ({ path }) => readLinkFor(desk, path),
      makeTemp: (order) => temporary.make(desk, order),
      ...opened.handlers(desk),
      fetch: (order, signal) => fetchForGuest(desk, order, requests, signal),
      socketOpen: (order, signal) => sockets.open(desk, order, signal),
      socketSend: async ({ socket, binary, data }) => sockets.send(socket, binary ? Buffer.from(data, "base64") : data),
      socketRead: ({ socket }, signal) => sockets.read(socket, signal),
      socketClose: async ({ socket, code, reason }) => sockets.close(socket, code, reason),
      async abort({ call }) {
        underWay.get(call)?.abort();
        return done(null);
      },
      command: (order, signal) => runCommand(desk, order, signal),
      queryPermission: (descriptor) => queryPermission(desk, descriptor),
      requestPermission: (descriptor) => requestPermission(desk, descriptor),
      revokePermission: (descriptor) => revokePermission(desk, descriptor),
      storeGet: ({ key }) => storeGet(desk, key),
      storeSet: ({ key, value }) => storeSet(desk, key, value),
      storeDelete: ({ key }) => storeDelete(desk, key),
      storeList: ({ prefix }) => storeList(desk, prefix),
      memorySearch: ({ query, limit }, signal) => memorySearch(desk, query, limit, signal),
      memoryRemember: ({ text }) => memoryRemember(desk, text),
      callTool: ({ tool, args }) => callTool(desk, tool, args),
    };

    async function write(
      path: string,
      data: Buffer,
      how: Parameters<typeof writeGuestFile>[3],
    ): Promise<Outcome<null>> {
      return data.length > WRITE_LIMIT_BYTES ? tooMuch() : writeGuestFile(desk, path, data, how);
    }
  }

  async function call(id: number, name: CallName, args: Json): Promise<CallAnswer> {
    if (closed || !attended) return refuse("Interrupted", "nothing can be asked for now: no event is under way");
    const stop = new AbortController();
    underWay.set(id, stop);
    try {
      return await serveCall(attended.handlers, name, args, stop.signal);
    } catch {
      // One of our own promises was broken; what it says is not for strangers.
      return refuse("Error", "the call could not be served");
    } finally {
      if (underWay.get(id) === stop) underWay.delete(id);
    }
  }

  return {
    call,
    async open() {
      if (!attended) return undefined;
      const views = { env: viewEnvironment(live.current, env), sys: viewSystem(live.current, options.sysFacts()) };
      const handout = describeHandout(live.current, views.env, views.sys);
      if (handout === undefined) return views;
      const decision = { ...handout, allowed: true, by: "rule", because: "handed over at the start", ms: 0 } as const;
      const written = await audit.record(attended.context, decision, "act");
      return written.ok ? views : undefined;
    },
    attend(context) {
      if (attended) audit.settle(attended.context);
      attended = context && { context, handlers: handlersFor(context) };
      if (context) hadEffect = false;
    },
    get hadEffect() {
      return hadEffect;
    },
    get asking() {
      return asking.open;
    },
    close() {
      if (closed) return;
      closed = true;
      if (attended) audit.settle(attended.context);
      for (const stop of underWay.values()) stop.abort();
      sockets.end();
      asking.close();
      opened.close();
      // Nobody waits for it: the guest is gone.
      void temporary.close().catch(() => {});
    },
  };
}

function encoded(bytes: Outcome<Buffer>): Outcome<string> {
  return bytes.ok ? done(bytes.value.toString("base64")) : bytes;
}

function tooMuch(): Refused {
  return refuse("RangeError", `one write has ${WRITE_LIMIT_BYTES} bytes at most`);
}
