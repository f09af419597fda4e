// flags:
const id = setTimeout(() => console.log("never"), 5);
clearTimeout(id);
clearTimeout(undefined);
clearTimeout(123456);
let ticks = 0;
const every = setInterval(() => {
  ticks += 1;
  console.log("tick", ticks);
  if (ticks === 3) clearInterval(every);
}, 2);
