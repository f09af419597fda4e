// flags:
import { inspect, styleText } from "node:util";
const shown = (text: string) => JSON.stringify(text);
console.log(shown(styleText("red", "plain")), shown(styleText(["bold", "red"], "x", { validateStream: false })));
console.log(shown(styleText("red", "a\u001b[31mb\u001b[39mc", { validateStream: false })));
console.log(shown(styleText("bold", styleText("dim", "in", { validateStream: false }), { validateStream: false })));
for (const wrong of [() => styleText("red", 5 as never), () => styleText("nope" as never, "x")]) {
  try {
    wrong();
  } catch (error) {
    console.log((error as Error & { code: string }).code, error instanceof TypeError);
  }
}
const value = { list: [1, 2, 3, 4], deep: { a: { b: { c: 1 } } }, text: "it's", long: "x".repeat(30), map: new Map([[1, 2]]) };
console.log(inspect(value, { depth: 0 }), inspect(value, { compact: false, breakLength: 40 }));
console.log(inspect(value, { maxArrayLength: 2, maxStringLength: 5, depth: null }), shown(inspect([1, "a", null], { colors: true })));
console.log(inspect({ b: 1, a: 2 }, { sorted: true }), inspect({ get a() { return 1; } }, { getters: true }));
