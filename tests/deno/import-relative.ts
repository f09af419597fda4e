// flags:
import Greeter, { greet, greeting } from "./lib/greeting.ts";
import * as all from "./lib/greeting.ts";
console.log(greeting, greet("a"), new Greeter("b").greet(), Object.keys(all));
