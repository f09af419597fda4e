/** Runs for each of a list, also where the guest has bent how arrays are iterated. Runs inside the isolate. */
export function eachOf<T>(items: readonly T[], run: (item: T) => void): void {
  for (let at = 0; at < items.length; at += 1) run(items[at] as T);
}
