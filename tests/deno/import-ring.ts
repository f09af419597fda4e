// flags:
import { both } from "./lib/ring-a.ts";
console.log(both());
