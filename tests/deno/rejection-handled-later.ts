// flags:
const late = Promise.reject(new Error("handled"));
queueMicrotask(() => late.catch((error) => console.log("caught", error.message)));
