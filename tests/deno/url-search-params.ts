// flags:
const params = new URLSearchParams("?b=2&a=1&b=3&c=%20+x&d");
console.log([...params], params.get("b"), params.getAll("b"), params.has("d"), params.get("none"), params.size);
params.append("ü", "ä&=");
params.set("b", "only");
params.sort();
console.log(params.toString());
console.log(new URLSearchParams({ x: "1", y: "a b" }).toString(), new URLSearchParams([["p", "q"]]).toString());
params.delete("a", "2");
params.delete("b");
console.log(String(params), [...params.keys()].join());
