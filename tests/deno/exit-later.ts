// flags:
setTimeout(() => {
  console.log("now");
  Deno.exit(3);
}, 5);
setInterval(() => {}, 1000);
