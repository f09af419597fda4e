/** structuredClone. Runs inside the isolate. */

import { DOMException } from "./dom-exception.ts";

function notCloneable(value: unknown): DOMException {
  const what = typeof value === "object" ? `#<${value?.constructor?.name || "Object"}>` : String(value);
  return new DOMException(`${what} could not be cloned.`, "DataCloneError");
}

type Clones = Map<object, object>;

/** Names that no code of the guest's meets: of the method that makes a copy of an object of ours, */
export const CLONED = Symbol("cloned");
/** and of one that says how it moves to where its copy goes. */
export const MOVED = Symbol("moved");

/** What takes the place of an object that moves; `leave` makes an end of the object itself. */
export type Move = { readonly copy: object; leave(): void };

const ERROR_KINDS = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

function remember<T extends object>(clones: Clones, original: object, copy: T): T {
  clones.set(original, copy);
  return copy;
}

function cloneError(error: Error, clones: Clones): Error {
  if (error instanceof DOMException) {
    const copy = remember(clones, error, new DOMException(error.message, error.name));
    Object.defineProperty(copy, "stack", { value: error.stack, writable: true, configurable: true });
    return copy;
  }
  const kind = Object.hasOwn(ERROR_KINDS, error.name) ? ERROR_KINDS[error.name as keyof typeof ERROR_KINDS] : Error;
  const copy = remember(clones, error, new kind(error.message));
  if (typeof error.stack === "string")
    Object.defineProperty(copy, "stack", { value: error.stack, writable: true, configurable: true });
  if (Object.hasOwn(error, "cause"))
    Object.defineProperty(copy, "cause", {
      value: cloneInner(error.cause, clones),
      writable: true,
      configurable: true,
    });
  return copy;
}

function cloneView(view: ArrayBufferView, clones: Clones): object {
  const buffer = cloneInner(view.buffer, clones) as ArrayBuffer;
  const kind = view.constructor as new (buffer: ArrayBuffer, offset: number, length: number) => object;
  const size = view instanceof DataView ? 1 : (view as Uint8Array).BYTES_PER_ELEMENT;
  return remember(clones, view, new kind(buffer, view.byteOffset, view.byteLength / size));
}

/** Built-in objects with insides of their own; undefined for all others. */
function cloneBuiltIn(value: object, clones: Clones): object | undefined {
  if (value instanceof Date) return remember(clones, value, new Date(value.getTime()));
  if (value instanceof RegExp) return remember(clones, value, new RegExp(value.source, value.flags));
  if (value instanceof Boolean || value instanceof Number || value instanceof String || value instanceof BigInt) {
    return remember(clones, value, Object((value as { valueOf(): unknown }).valueOf()) as object);
  }
  if (value instanceof ArrayBuffer) return remember(clones, value, value.slice(0));
  if (ArrayBuffer.isView(value)) return cloneView(value, clones);
  if (value instanceof Error) return cloneError(value, clones);
  if (value instanceof Map) {
    const copy = remember(clones, value, new Map());
    for (const [key, item] of [...value]) copy.set(cloneInner(key, clones), cloneInner(item, clones));
    return copy;
  }
  if (value instanceof Set) {
    const copy = remember(clones, value, new Set());
    for (const item of [...value]) copy.add(cloneInner(item, clones));
    return copy;
  }
  if (CLONED in value) return remember(clones, value, (value as { [CLONED](): object })[CLONED]());
  const holdsMore = [Promise, WeakMap, WeakSet, WeakRef, Symbol].some((kind) => value instanceof kind);
  if (holdsMore) throw notCloneable(value);
  return undefined;
}

function cloneObject(value: object, clones: Clones): object {
  const builtIn = cloneBuiltIn(value, clones);
  if (builtIn) return builtIn;
  const copy = remember<object>(clones, value, Array.isArray(value) ? new Array(value.length) : {});
  for (const key of Object.keys(value)) {
    const item = cloneInner((value as Record<string, unknown>)[key], clones);
    Object.defineProperty(copy, key, { value: item, writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

function cloneInner(value: unknown, clones: Clones): unknown {
  if (typeof value === "function" || typeof value === "symbol") throw notCloneable(value);
  if (typeof value !== "object" || value === null) return value;
  return clones.get(value) ?? cloneObject(value, clones);
}

function moveOf(item: unknown): Move {
  if (typeof item === "object" && item !== null && MOVED in item) return (item as { [MOVED](): Move })[MOVED]();
  if (!(item instanceof ArrayBuffer) || item.detached)
    throw new DOMException("Value not transferable", "DataCloneError");
  return { copy: item.slice(0), leave: () => void item.transfer(0) };
}

/** A copy of a value, and of what in it moves, in the order of `transfer`. */
export function cloneAndMove(value: unknown, transfer: Iterable<unknown>): { copy: unknown; moved: object[] } {
  const items = [...transfer];
  if (new Set(items).size < items.length) throw new DOMException("Value is transferred twice", "DataCloneError");
  const moves = items.map(moveOf);
  const clones: Clones = new Map(moves.map(({ copy }, index) => [items[index] as object, copy]));
  const copy = cloneInner(value, clones);
  // What moves is gone from here only when all went well.
  for (const move of moves) move.leave();
  return { copy, moved: moves.map((move) => move.copy) };
}

export function structuredClone(value: unknown, options?: { transfer?: Iterable<unknown> } | null): unknown {
  return cloneAndMove(value, options?.transfer ?? []).copy;
}
