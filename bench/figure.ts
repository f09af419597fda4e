/** One measured figure. `reach` is the most it should be; undefined for one that is only told. */
export type Figure = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly reach: number | undefined;
  readonly note: string;
};

export function printFigures(title: string, figures: readonly Figure[]): void {
  console.log(`\n${title}`);
  const width = Math.max(...figures.map((figure) => figure.name.length));
  for (const { name, value, unit, reach, note } of figures) {
    const verdict = reach === undefined ? "    " : value <= reach ? "ok  " : "OVER";
    const bar = reach === undefined ? "" : `reach ${round(reach)} ${unit}`;
    console.log(
      `  ${verdict} ${name.padEnd(width)}  ${round(value).padStart(8)} ${unit.padEnd(4)} ${bar.padEnd(18)} ${note}`,
    );
  }
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
