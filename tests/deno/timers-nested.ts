// flags:
setTimeout(() => {
  console.log("outer");
  setTimeout(() => console.log("inner"), 0);
  queueMicrotask(() => console.log("micro of outer"));
}, 0);
setTimeout(() => console.log("second"), 0);
await null;
console.log("after await");
