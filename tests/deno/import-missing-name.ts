// flags:
import { nothing } from "./lib/greeting.ts";
console.log(nothing);
