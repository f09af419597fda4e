// flags:
console.log(import.meta.filename?.endsWith("/import-meta-parts.ts"), import.meta.dirname !== undefined);
console.log(import.meta.resolve("./lib/x.ts").endsWith("/lib/x.ts"), import.meta.resolve("https://a/b"));
console.log(Object.keys(import.meta).sort().join());
