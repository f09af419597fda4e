// flags:
console.log("log");
console.info("info");
console.debug("debug");
console.warn("warn");
console.error("error");
console.assert(true, "not said");
console.assert(1 === 1);
console.dir({ a: { b: { c: { d: 1 } } } });
