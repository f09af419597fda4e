// flags:
Promise.reject(new TypeError("nobody waits"));
setTimeout(() => console.log("never"), 1000);
