import type ivm from "isolated-vm";
import type { ToGuest } from "../guest/guest-protocol.ts";

/** What an isolate is connected to once it has a guest. Nothing of it may throw: the guest would see our stack. */
export type IsolateOwner = {
  /** The guest said something; what it gives back goes to the guest. */
  said(text: string): string | number;
  /** V8 has lost control over the isolate. */
  lost(): void;
};

/** An isolate in which the prelude has run, and nothing of a stranger's. */
export type BootedIsolate = {
  readonly isolate: ivm.Isolate;
  readonly memoryMib: number;
  /** The one function of the isolate that is ever called. */
  readonly hear: ivm.Reference<(text: string, stand?: StandDoor) => Outbox | undefined>;
  /** Connects it with its guest, once. */
  own(owner: IsolateOwner): void;
  /** What its guest may call and wait for. `answer` must never reject: that would end the process. */
  standDoor(answer: (text: unknown) => Promise<string>): StandDoor;
};

/** What an entry leaves behind, as the prelude makes it. */
export type Outbox = { readonly loaded: boolean; readonly answer: string };

export type StandDoor = ivm.Reference<(text: unknown) => Promise<string>>;

export type IsolateBoot = {
  /** Throws when there is no memory for one more isolate. */
  boot(memoryMib: number): BootedIsolate;
  /** Makes the boots after it, and the first answers of their guests, faster. */
  rehearse(): void;
};

const PRELUDE_NAME = "clawd:prelude";
const REHEARSAL_MIB = 32;
const REHEARSAL_LIMIT_MS = 1000;
/** What every guest goes through. */
const REHEARSAL: readonly ToGuest[] = [
  {
    ...{ k: "load", mode: "hook", name: "", args: [], cwd: "", sys: {} },
    source: "(async (take) => { Deno; take({ default: async (event) => ({ modify: event }) }); })",
    env: { values: {}, allowed: [], denied: [] },
  },
  { k: "event", id: 1, event: {} },
];

/**
 * Makes isolates: the prelude gets one callback and leaves one function, and from then on only strings cross. A
 * rehearsal leaves V8's compiled form of the prelude, with just those functions that guests use, for all boots that
 * follow. It never leaves this process, and no stranger's code is in it.
 */
export function isolateBoot(isolates: typeof ivm, prelude: string): IsolateBoot {
  const code = `(function ($0) { let clawdHear;${prelude}\nreturn clawdHear; })`;
  const filename = PRELUDE_NAME;
  let compiled: ivm.ExternalCopy<ArrayBuffer> | undefined;

  function boot(memoryMib: number): BootedIsolate {
    let owner: IsolateOwner | undefined;
    const isolate = new isolates.Isolate({ memoryLimit: memoryMib, onCatastrophicError: () => owner?.lost() });
    const context = isolate.createContextSync();
    const script = isolate.compileScriptSync(code, compiled ? { filename, cachedData: compiled } : { filename });
    const start = script.runSync(context, { reference: true });
    const said = new isolates.Callback((text: unknown) => (typeof text === "string" && owner ? owner.said(text) : 0));
    const hear = start.applySync(undefined, [said], { result: { reference: true } });
    for (const done of [start, script, context]) done.release();
    return {
      isolate,
      memoryMib,
      hear: hear as BootedIsolate["hear"],
      own(newOwner) {
        owner = newOwner;
      },
      standDoor(answer) {
        const bare = (text: unknown) => answer(text);
        // Should a guest ever get hold of it, it is a function of which nothing can be read and nothing kept.
        for (const name of Object.getOwnPropertyNames(bare)) Reflect.deleteProperty(bare, name);
        return new isolates.Reference(Object.freeze(Object.setPrototypeOf(bare, null) as typeof bare));
      },
    };
  }

  return {
    boot,
    rehearse() {
      if (compiled) return;
      const { isolate, hear } = boot(REHEARSAL_MIB);
      const options = { timeout: REHEARSAL_LIMIT_MS, result: { copy: true } } as const;
      for (const text of REHEARSAL) hear.applySync(undefined, [JSON.stringify(text)], options);
      // Compiled once more in the same isolate it comes with all functions that have run in it.
      const again = isolate.compileScriptSync(code, { filename, produceCachedData: true });
      compiled = (again as ivm.Script & { cachedData?: ivm.ExternalCopy<ArrayBuffer> }).cachedData;
      isolate.dispose();
    },
  };
}
