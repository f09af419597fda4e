// flags:
// stricter: D10
// says: cannot be imported
import { readFileSync } from "node:fs";
console.log(readFileSync("/etc/hosts", "utf8").length > 0);
