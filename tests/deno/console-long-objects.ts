// flags:
console.log({
  first: "a fairly long text that takes place",
  second: "another fairly long text that takes place",
  third: [1, 2, 3],
});
console.log(Array.from({ length: 30 }, (_, index) => index));
console.log(Array.from({ length: 120 }, (_, index) => index));
console.log(["aaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccccccccccc"]);
console.log([["a", 1], ["b", 2]]);
