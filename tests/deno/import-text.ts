// flags:
import text from "./lib/words.txt" with { type: "text" };
console.log(text, typeof text);
