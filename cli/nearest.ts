/** The name that a person most likely meant, or undefined when none is close. */
export function nearest(written: string, names: readonly string[]): string | undefined {
  if (written === "") return undefined;
  const limit = Math.max(1, Math.ceil(written.replace(/^-+/, "").length / 3));
  let best: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = written.length > 2 && name.startsWith(written) ? 0.5 : editDistance(written, name);
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** How many letters have to be added, dropped, changed or swapped with their neighbour. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
