// flags: --allow-net=http://example.com
// refused:
console.log("never");
