// flags:
import source from "./lib/slow.ts" with { type: "text" };
console.log(source.includes("await"), source.split("\n").length);
