// flags:
console.log(new URLPattern({ protocol: "http{s}?", hostname: "a.b", pathname: "/x" }));
