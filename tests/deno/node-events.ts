// flags:
import { EventEmitter, once } from "node:events";
const emitter = new EventEmitter();
emitter.on("a", (...args) => console.log("a", ...args));
emitter.once("a", () => console.log("once"));
console.log(emitter.emit("a", 1, 2), emitter.emit("a", 3), emitter.emit("b"), emitter.listenerCount("a"));
setTimeout(() => emitter.emit("later", "x"), 1);
console.log(await once(emitter, "later"));
try {
  emitter.emit("error", new RangeError("bad"));
} catch (error) {
  console.log((error as Error).name);
}
