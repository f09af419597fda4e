/** structuredClone, without transfer. Runs inside the isolate. */

function notCloneable(what: string): Error {
  const error = new Error(`${what} could not be cloned`);
  error.name = "DataCloneError";
  return error;
}

type Clones = Map<object, object>;

function remember<T extends object>(clones: Clones, original: object, copy: T): T {
  clones.set(original, copy);
  return copy;
}

function cloneError(error: Error, clones: Clones): Error {
  const kinds = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const kind = Object.hasOwn(kinds, error.name) ? kinds[error.name as keyof typeof kinds] : Error;
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

function cloneObject(value: object, clones: Clones): object {
  if (value instanceof Date) return remember(clones, value, new Date(value.getTime()));
  if (value instanceof RegExp) return remember(clones, value, new RegExp(value.source, value.flags));
  if (value instanceof Boolean || value instanceof Number || value instanceof String) {
    return remember(clones, value, Object(value.valueOf()) as object);
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
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) {
    throw notCloneable(`a ${value.constructor.name}`);
  }
  const copy = remember<object>(clones, value, Array.isArray(value) ? new Array(value.length) : {});
  for (const key of Object.keys(value)) {
    const item = cloneInner((value as Record<string, unknown>)[key], clones);
    Object.defineProperty(copy, key, { value: item, writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

function cloneInner(value: unknown, clones: Clones): unknown {
  if (typeof value === "function" || typeof value === "symbol") throw notCloneable(`a ${typeof value}`);
  if (typeof value !== "object" || value === null) return value;
  return clones.get(value) ?? cloneObject(value, clones);
}

export function structuredClone(value: unknown, options?: { transfer?: readonly unknown[] }): unknown {
  if (options?.transfer && options.transfer.length > 0) throw notCloneable("a value with a transfer list");
  return cloneInner(value, new Map());
}
