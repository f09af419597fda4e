/** One measured figure. `reach` is the most it should be, `least` the least; neither for one that is only told. */
export type Figure = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly reach: number | undefined;
  readonly least?: number;
  readonly note: string;
};

export function printFigures(title: string, figures: readonly Figure[]): void {
  console.log(`\n${title}`);
  const width = Math.max(...figures.map((figure) => figure.name.length));
  for (const figure of figures) {
    const { name, value, unit, note } = figure;
    const { verdict, bar } = judge(figure);
    console.log(
      `  ${verdict.padEnd(6)}${name.padEnd(width)}  ${round(value).padStart(8)} ${unit.padEnd(4)} ${bar.padEnd(18)} ${note}`,
    );
  }
}

function judge({ value, unit, reach, least }: Figure): { readonly verdict: string; readonly bar: string } {
  if (least !== undefined) return { verdict: value >= least ? "ok" : "UNDER", bar: `least ${round(least)} ${unit}` };
  if (reach === undefined) return { verdict: "", bar: "" };
  return { verdict: value <= reach ? "ok" : "OVER", bar: `reach ${round(reach)} ${unit}` };
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
