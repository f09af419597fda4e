// flags:
import { x } from "./lib/missing.ts";
console.log(x);
