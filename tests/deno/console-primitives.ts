// flags:
console.log("plain", 1, -0, 1.5, 1e21, NaN, Infinity, true, null, undefined, 10n, Symbol("s"));
console.log(["text", 'it\'s', "line\nbreak", "tab\t", "ü", "\u0000", `both "and' `]);
console.log("");
console.log();
console.log("a\nb");
console.log(["it's", 'say "hi"', "back`tick"]);
