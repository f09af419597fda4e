// flags:
import { where } from "./lib/where.ts";
console.log(where, import.meta.main);
