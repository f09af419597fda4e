// flags:
const first = (error: unknown) => Deno.inspect(error).split("\n")[0];
console.log(first(new Error("plain")));
console.log(first(new TypeError("typed")));
class Own extends Error {
  override name = "Own";
}
console.log(first(new Own("mine")));
console.log(first(new Error()));
console.log(String(new Error("a", { cause: "b" }).cause));
