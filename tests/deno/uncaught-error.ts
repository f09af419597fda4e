// flags:
console.log("before");
throw new Error("top level");
