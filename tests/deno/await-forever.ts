// flags:
console.log("waits");
await new Promise(() => {});
console.log("never");
