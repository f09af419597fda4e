// flags:
// stricter: D10
// says: cannot be imported
import { basename } from "node:path";
console.log(basename("/a/b"));
