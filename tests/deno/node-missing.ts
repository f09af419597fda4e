// flags:
// stricter: D10
// says: cannot be imported
import { createServer } from "node:http";
console.log(typeof createServer);
