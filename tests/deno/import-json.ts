// flags:
import numbers from "./lib/numbers.json" with { type: "json" };
console.log(numbers, numbers.list.length);
