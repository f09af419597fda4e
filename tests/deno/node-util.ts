// flags:
import { format, inspect, isDeepStrictEqual, promisify, types } from "node:util";
console.log(format("%s is %d and %j", "a", 1.5, { b: 1 }), format("%o%%", 1));
console.log(inspect({ a: new Map([["k", new Set([1])]]), b: "it's", c: [undefined, null] }), inspect("x"));
console.log(inspect({ a: { b: { c: { d: 1 } } } }), inspect({ a: { b: { c: { d: 1 } } } }, { depth: 4 }));
console.log(isDeepStrictEqual({ a: [1] }, { a: [1] }), isDeepStrictEqual([1], ["1"]), types.isDate(new Date()));
console.log(await promisify((value: number, done: (error: null, value: number) => void) => done(null, value + 1))(1));
