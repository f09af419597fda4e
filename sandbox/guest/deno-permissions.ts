/** `Deno.permissions`. Runs inside the isolate. */

import type { Calling } from "./broker-call.ts";
import { pathText } from "./deno-path.ts";
import { Event, EventTarget } from "./events.ts";
import type { PermissionAnswer, PermissionDescriptor } from "./guest-protocol.ts";

type Asking = "queryPermission" | "requestPermission" | "revokePermission";

/** Under which key a descriptor of each kind carries its value. */
const VALUE_KEYS: Readonly<Record<string, string>> = {
  read: "path",
  write: "path",
  net: "host",
  env: "variable",
  run: "command",
  sys: "kind",
  ffi: "path",
  import: "host",
  tool: "tool",
  memory: "access",
};

const { hasOwn } = Object;
const { apply } = Reflect;
const { get, set } = Map.prototype;

function readDescriptor(descriptor: unknown): PermissionDescriptor {
  const given = (typeof descriptor === "object" && descriptor !== null ? descriptor : {}) as Record<string, unknown>;
  const name = `${given.name}`;
  const key = hasOwn(VALUE_KEYS, name) ? VALUE_KEYS[name] : undefined;
  if (key === undefined) throw new TypeError(`The provided value "${name}" is not a valid permission name`);
  const value = given[key];
  if (value === undefined || value === null) return { name, value: null };
  return { name, value: key === "path" || key === "command" ? pathText(value) : `${value}` };
}

/** Hands a new answer to a status; only this module can. */
let change: (status: PermissionStatus, answer: PermissionAnswer) => void;

/** One permission, as it was when last asked for; `change` is fired when that finds another state. */
export class PermissionStatus extends EventTarget {
  #answer: PermissionAnswer;
  onchange: ((event: Event) => unknown) | null = null;

  static {
    change = (status, answer) => {
      const changed = status.#answer.state !== answer.state;
      status.#answer = answer;
      if (!changed) return;
      const event = new Event("change");
      if (typeof status.onchange === "function") apply(status.onchange, status, [event]);
      status.dispatchEvent(event);
    };
  }

  constructor(answer: PermissionAnswer) {
    super();
    this.#answer = answer;
  }

  get state(): PermissionAnswer["state"] {
    return this.#answer.state;
  }

  /** True when it is granted but something within it is denied. */
  get partial(): boolean {
    return this.#answer.partial;
  }

  get [Symbol.toStringTag](): string {
    return "PermissionStatus";
  }
}

/**
 * @param opened hears each answer, since what is open to the guest may have changed with it
 */
export function denoPermissions({ call, callNow }: Calling, opened: (answer: PermissionAnswer) => void) {
  /** As in Deno there is one status object for each descriptor. */
  const statuses = new Map<string, PermissionStatus>();

  function statusOf(descriptor: PermissionDescriptor, answer: PermissionAnswer): PermissionStatus {
    opened(answer);
    const key = `${descriptor.name} ${descriptor.value ?? ""}`;
    const known = apply(get, statuses, [key]) as PermissionStatus | undefined;
    if (known) {
      change(known, answer);
      return known;
    }
    const status = new PermissionStatus(answer);
    apply(set, statuses, [key, status]);
    return status;
  }

  async function ask(asking: Asking, wanted: unknown): Promise<PermissionStatus> {
    const descriptor = readDescriptor(wanted);
    return statusOf(descriptor, await call(asking, descriptor));
  }

  function askNow(asking: Asking, wanted: unknown): PermissionStatus {
    const descriptor = readDescriptor(wanted);
    return statusOf(descriptor, callNow(asking, descriptor));
  }

  class Permissions {
    query(descriptor: unknown): Promise<PermissionStatus> {
      return ask("queryPermission", descriptor);
    }
    request(descriptor: unknown): Promise<PermissionStatus> {
      return ask("requestPermission", descriptor);
    }
    revoke(descriptor: unknown): Promise<PermissionStatus> {
      return ask("revokePermission", descriptor);
    }
    querySync(descriptor: unknown): PermissionStatus {
      return askNow("queryPermission", descriptor);
    }
    requestSync(descriptor: unknown): PermissionStatus {
      return askNow("requestPermission", descriptor);
    }
    revokeSync(descriptor: unknown): PermissionStatus {
      return askNow("revokePermission", descriptor);
    }
  }
  return { Permissions, permissions: new Permissions() };
}
