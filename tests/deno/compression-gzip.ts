// flags:
const text = "the same words again and again. ".repeat(3000);
const packed = await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).bytes();
console.log(packed.length < text.length / 10);
const back = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
console.log(back === text, back.length);
