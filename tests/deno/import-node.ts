// flags:
import { basename } from "node:path";
console.log(basename("/a/b"));
