import { setFlagsFromString } from "node:v8";
import type ivm from "isolated-vm";

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
  readonly hear: ivm.Reference<(text: string) => void>;
  /** Connects it with its guest, once. */
  own(owner: IsolateOwner): void;
};

export type IsolateBoot = {
  /** Throws when there is no memory for one more isolate. */
  boot(memoryMib: number): BootedIsolate;
};

const PRELUDE_NAME = "clawd:prelude";

/**
 * Makes isolates: the prelude gets one callback and leaves one function, and from then on only strings cross. The first
 * boot leaves V8's compiled form of the prelude for those that follow. It never leaves this process, and no stranger's
 * code is in it.
 */
export function isolateBoot(isolates: typeof ivm, prelude: string): IsolateBoot {
  const code = `(function ($0) { let clawdHear;${prelude}\nreturn clawdHear; })`;
  let compiled: ivm.ExternalCopy<ArrayBuffer> | undefined;

  function compile(isolate: ivm.Isolate): ivm.Script {
    const filename = PRELUDE_NAME;
    // All of it is compiled now and kept, rather than function by function when a guest waits for its first answer. The
    // compiled form fits only the flags it was made under.
    setFlagsFromString("--no-lazy");
    try {
      if (compiled) return isolate.compileScriptSync(code, { filename, cachedData: compiled });
      const script = isolate.compileScriptSync(code, { filename, produceCachedData: true });
      compiled = (script as ivm.Script & { cachedData?: ivm.ExternalCopy<ArrayBuffer> }).cachedData;
      return script;
    } finally {
      setFlagsFromString("--lazy");
    }
  }

  return {
    boot(memoryMib) {
      let owner: IsolateOwner | undefined;
      const isolate = new isolates.Isolate({ memoryLimit: memoryMib, onCatastrophicError: () => owner?.lost() });
      const context = isolate.createContextSync();
      const start = compile(isolate).runSync(context, { reference: true });
      const said = new isolates.Callback((text: unknown) => (typeof text === "string" && owner ? owner.said(text) : 0));
      const hear = start.applySync(undefined, [said], { result: { reference: true } });
      start.release();
      return {
        isolate,
        memoryMib,
        hear: hear as BootedIsolate["hear"],
        own(newOwner) {
          owner = newOwner;
        },
      };
    },
  };
}
