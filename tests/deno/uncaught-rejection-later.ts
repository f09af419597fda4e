// flags:
setTimeout(async () => {
  await null;
  throw new RangeError("later");
}, 1);
setTimeout(() => console.log("never"), 1000);
