// flags:
console.log(new DataView(new ArrayBuffer(2)).byteLength);
console.log(new URL("https://example.com/a?b#c").href);
console.log(new URLSearchParams("a=1&b=2"));
console.log(new Headers({ B: "2", a: "1" }));
console.log([new URL("https://example.com/")]);
