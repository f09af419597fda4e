// flags:
import { slow } from "./lib/slow.ts";
console.log(slow);
const { greet } = await import("./lib/greeting.ts");
console.log(greet("dynamic"));
