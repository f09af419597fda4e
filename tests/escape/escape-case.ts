import type { PersonsWord } from "../../core/domain/permission-decision.ts";
import type { SandboxLevel } from "../../sandbox/os/launcher.ts";
import type { Seen } from "./attempt.ts";

/** What an attack aims at. */
export const AREAS = [
  "realm",
  "leaks",
  "bridge",
  "handles",
  "modules",
  "surface",
  "web",
  "floods",
  "tenancy",
  "cpu",
  "memory",
  "permissions",
  "files",
  "network",
  "commands",
  "prompts",
  "audit",
  "host",
] as const;
export type Area = (typeof AREAS)[number];

/**
 * Who is taken to be the stranger. `guest`: the hook. `prelude`: a hook that has got hold of the one function that leads
 * out of its isolate, as the global `post`. `host`: native code in the process that holds the isolates.
 */
export type Rig = "guest" | "prelude" | "host";

/** The places that a source may name as `{{NAME}}`, all of them absolute paths or ports. */
export type Places = {
  /** The folder of this case, whose name is granted to it when the case says so. */
  readonly HERE: string;
  /** A folder that is granted to nobody, and its secret. */
  readonly OUTSIDE: string;
  readonly SECRET: string;
  /** The daemon's own data, and its secret. */
  readonly HOME: string;
  readonly TOKEN: string;
  readonly HOOKS: string;
  /** A web server that answers and redirects, and one with a secret. Both on the loopback interface. */
  readonly PORT: string;
  readonly SECRET_PORT: string;
};

/** What must be seen, by level where the levels differ. */
export type Sight = RegExp | Readonly<Record<Exclude<SandboxLevel, "seatbelt">, RegExp>>;

export type EscapeCase = {
  /** What it tries, and with what. */
  readonly name: string;
  /** Words of `@allow` and `@deny`. */
  readonly grant?: string;
  readonly deny?: string;
  /** More words of `@hook`. */
  readonly header?: string;
  readonly rig?: Rig;
  /** Expressions, each tried by itself; what they give or throw is the hook's answer. */
  readonly tries?: readonly string[];
  /** Or the body of the hook, `(event, clawd)`. */
  readonly body?: string;
  /** Or all of its file behind the header. In the host rig: code of Node. */
  readonly module?: string;
  /** Other files of its package, by their names. */
  readonly files?: Readonly<Record<string, string>>;
  /** Each try, or else the verdict as JSON, must match. */
  readonly sees?: Sight;
  /** Makes what it needs to be there. What is returned is undone when it has ended. */
  readonly prepare?: (places: Places) => (() => void) | undefined;
  /** An event of another session goes to the same hook before, with a canary in it. */
  readonly victim?: true;
  /** What people answer; nobody is there when absent. */
  readonly word?: PersonsWord;
  /** No decision can be recorded. */
  readonly unrecorded?: true;
  /** It may call these tools and reach these servers. */
  readonly reaches?: readonly ("server" | "tool")[];
  /** Looks at what else came of it; a complaint, or undefined. */
  readonly also?: (seen: Seen) => string | undefined;
  /** Only tried where this level holds: at the other one nothing stands in its way. */
  readonly onlyAt?: SandboxLevel;
};
