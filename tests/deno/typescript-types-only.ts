// flags:
type Pair<T> = [T, T];
interface Named {
  name?: string;
}
const pair: Pair<number> = [1, 2];
const named = { name: "n" } satisfies Named as Named;
console.log(pair, named.name!.length, <unknown>named);
function over(a: string): string;
function over(a: number): number;
function over(a: unknown): unknown {
  return a;
}
console.log(over(1));
