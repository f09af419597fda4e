// flags:
// input: one\ntwo\nthree\n
let text = "";
for await (const piece of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) text += piece;
for (const [at, line] of text.trimEnd().split("\n").entries()) console.log(at, line);
