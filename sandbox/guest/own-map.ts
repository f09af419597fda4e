/** Runs inside the isolate. */

const { apply } = Reflect;
const { get, set, delete: remove, forEach } = Map.prototype;
const size = Object.getOwnPropertyDescriptor(Map.prototype, "size")?.get as () => number;

/** A map that works as it did at the start, whatever the guest has made of `Map.prototype` since. */
export type OwnMap<K, V> = {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): boolean;
  forEach(each: (value: V, key: K) => void): void;
  size(): number;
};

export function ownMap<K, V>(): OwnMap<K, V> {
  const map = new Map<K, V>();
  return {
    get: (key) => apply(get, map, [key]) as V | undefined,
    set: (key, value) => void apply(set, map, [key, value]),
    delete: (key) => apply(remove, map, [key]) as boolean,
    forEach: (each) => void apply(forEach, map, [each]),
    size: () => apply(size, map, []) as number,
  };
}
