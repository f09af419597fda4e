// flags:
// args: one "two words" --three=3 -x -- last
console.log(Deno.args, Deno.args.length);
