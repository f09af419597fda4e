import { isAbsolute, resolve } from "node:path";
import { openAsking } from "../broker/asking.ts";
import { openAudit } from "../broker/audit.ts";
import type { BrokerContext } from "../broker/capabilities.ts";
import { findGranted } from "../broker/command.ts";
import { admitPath, type FileDesk, judgeReal } from "../broker/file-place.ts";
import { fileRules } from "../broker/file-rules.ts";
import { type GroundedGrant, realPlace } from "../broker/ground-grant.ts";
import { openJudge, type Wanted } from "../broker/judge.ts";
import { liveGrant } from "../broker/live-grant.ts";
import type { Outcome } from "../broker/outcome.ts";
import { isInFolder } from "../permission/grant.ts";
import {
  type Grant,
  type Permission,
  type PermissionKind,
  parseValues,
  printPermission,
  SYSTEM_APIS,
} from "../permission/permission.ts";
import type { DenoRequest, DenoVerdict } from "./broker-wire.ts";

/** What Deno says for the folder of temporary files, whose name the program did not ask for. */
const TEMPORARY = "<TMP>";

export type DenoJudgeOptions = {
  /** "script:PATH". */
  readonly principal: string;
  /** Lower-case hex SHA-256 of the file that was started. */
  readonly sourceHash: string;
  readonly grant: GroundedGrant;
  readonly context: BrokerContext;
  /** False to deny what is neither granted nor denied without asking anybody. */
  readonly mayAsk: boolean;
  /** Absolute and real. Of files only what lies in it can be asked for; undefined for none. */
  readonly askableFolder: string | undefined;
  /** The working folder of a process of the program's; undefined when there is none of that id. */
  readonly folderOf: (pid: number) => string | undefined;
  /** True when modules come from a cache on the disk alone, so that to import one touches no network. */
  readonly importsFromCache: boolean;
  readonly searchPath: string;
  readonly hidden: readonly string[];
  readonly protectedWrite: (path: string) => string | undefined;
  /** A clock in milliseconds. */
  readonly now: () => number;
};

/** Judges what one Deno program wants, as a script's calls are judged, and writes every decision down. */
export type DenoJudge = {
  judge(request: DenoRequest): Promise<DenoVerdict>;
  /** What is granted now; grows with people's answers. */
  readonly grant: Grant;
  /** Writes down that the way to the network refused a connection. */
  onDenied(permission: Permission, because: string): void;
  close(): void;
};

const GRANTED: DenoVerdict = { allowed: true };

export function openDenoJudge(options: DenoJudgeOptions): DenoJudge {
  const { context, searchPath } = options;
  const live = liveGrant(options.grant, []);
  const audit = openAudit(options.principal, options.sourceHash, options.now);
  const asking = openAsking(options.principal);
  const tools = { mode: "script", live, asking, audit, now: options.now } as const;
  const judges = { ask: openJudge({ ...tools, mayAsk: options.mayAsk }), deny: openJudge({ ...tools, mayAsk: false }) };
  const rules = fileRules(options.hidden, options.protectedWrite);

  function deskAt(cwd: string, otherwise: keyof typeof judges): FileDesk {
    return {
      ...{ cwd, rules },
      grant: () => live.current,
      admit: (wanted) => judges[otherwise](context, wanted),
      effect: () => {},
    };
  }

  async function judgePlain(wanted: Wanted, otherwise: keyof typeof judges): Promise<DenoVerdict> {
    const admitted = await judges[otherwise](context, wanted);
    return verdictOf(admitted.ok ? await admitted.value.allow("") : admitted);
  }

  const judgeAll = (kind: PermissionKind) =>
    judgePlain({ permission: { kind }, named: null, ground: async () => [{ kind }] }, "deny");

  /** Nothing is open here, so what is there afterwards may be another file: the walls hold what this cannot. */
  async function judgeFile(kind: "read" | "write", value: string, pid: number): Promise<DenoVerdict> {
    const named = value === TEMPORARY ? "/tmp" : value;
    const folder = isAbsolute(named) ? "/" : options.folderOf(pid);
    if (folder === undefined) return denied(`Requires ${kind} access to a path of a process that is not there`);
    const real = await realPlace(resolve(folder, named));
    const room = options.askableFolder;
    const desk = deskAt(folder, room !== undefined && isInFolder(room, real) ? "ask" : "deny");
    const admitted = await admitPath(desk, kind, named, `${kind} '${value}'`);
    if (!admitted.ok) return verdictOf(admitted);
    const { admission, path } = admitted.value;
    const place = await realPlace(path);
    return verdictOf((await judgeReal(desk, kind, admission, place)) ?? (await admission.allow(place)));
  }

  /** Before every program, and before a signal to one, Deno asks whether all may be run; a no is not the last word. */
  async function judgeProgram(value: string, pid: number): Promise<DenoVerdict> {
    const cwd = value.includes("/") && !isAbsolute(value) ? options.folderOf(pid) : "/";
    if (cwd === undefined) return denied("Requires run access to a program of a process that is not there");
    const desk = { ...deskAt(cwd, "ask"), searchPath, programs: live.programs };
    const found = await findGranted(desk, value);
    return verdictOf(found.ok ? await found.value.admission.allow(found.value.real) : found);
  }

  /** The address that a name leads to is judged where it is dialled, outside of the sandbox. */
  function judgeHost(value: string): Promise<DenoVerdict> | DenoVerdict {
    const parsed = parseValues("net", [value], "/", undefined);
    const [permission] = parsed.ok ? parsed.value : [];
    if (permission === undefined) return refuseUnasked("net", value, "it is no host of a network");
    return judgePlain({ permission, named: value, ground: async () => [permission] }, "ask");
  }

  async function refuseUnasked(kind: string, value: string | null, because: string): Promise<DenoVerdict> {
    const permission = value === null ? kind : `${kind}=${value}`;
    await audit.record(context, { permission, resolved: "", allowed: false, by: "rule", because, ms: 0 }, "look");
    const what = value === null ? "" : ` to ${JSON.stringify(value)}`;
    return denied(`Requires ${kind} access${what}, which is never granted: ${because}`);
  }

  async function judgeImport(value: string | null): Promise<DenoVerdict> {
    if (!options.importsFromCache) return value === null ? judgeAll("net") : judgeHost(value);
    const decision = { permission: `import=${value ?? ""}`, resolved: "", because: "from the cache alone", ms: 0 };
    const written = await audit.record(context, { ...decision, allowed: true, by: "rule" }, "look");
    return written.ok ? GRANTED : denied("it was not done, because it could not be recorded");
  }

  return {
    judge({ permission: kind, value, pid }) {
      switch (kind) {
        case "read":
        case "write":
          return value === null ? judgeAll(kind) : judgeFile(kind, value, pid);
        case "net":
          return Promise.resolve(value === null ? judgeAll(kind) : judgeHost(value));
        case "run":
          return value === null ? judgeAll(kind) : judgeProgram(value, pid);
        case "env": {
          // A variable that was not handed over at the start is not there, whatever somebody answers.
          if (value === null) return judgeAll(kind);
          const permission = { kind, name: value } as const;
          return judgePlain({ permission, named: value, ground: async () => [permission] }, "deny");
        }
        case "sys": {
          if (value === null) return judgeAll(kind);
          if (!SYSTEM_APIS.some((api) => api === value)) return refuseUnasked(kind, value, "nobody can open it here");
          const permission = { kind, api: value } as const;
          return judgePlain({ permission, named: value, ground: async () => [permission] }, "ask");
        }
        case "import":
          return judgeImport(value);
        case "ffi":
          return refuseUnasked(kind, value, "native code asks nobody");
        default:
          return refuseUnasked(kind, value, "there is no such permission here");
      }
    },
    get grant() {
      return live.current;
    },
    onDenied(permission, because) {
      const decision = { permission: printPermission(permission), resolved: "", because, ms: 0 } as const;
      // Who asked for the connection hears of it from the proxy: nothing waits for this record.
      void audit.record(context, { ...decision, allowed: false, by: "rule" }, "look");
    },
    close() {
      audit.settle(context);
      asking.close();
    },
  };
}

function denied(reason: string): DenoVerdict {
  return { allowed: false, reason };
}

function verdictOf(outcome: Outcome<unknown>): DenoVerdict {
  return outcome.ok ? GRANTED : denied(outcome.error.message);
}
