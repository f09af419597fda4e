// flags:
class Tagged {
  get [Symbol.toStringTag]() {
    return "Label";
  }
}
console.log(new Tagged(), { [Symbol.toStringTag]: "Own" });
console.log({ [Symbol.for("Deno.customInspect")]: () => "custom!" });
console.log(String(new Tagged()), `${{ toString: () => "text" }}`);
console.log([1, 2, 3].entries());
