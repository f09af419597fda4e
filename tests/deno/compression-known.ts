// flags:
const gzip = Uint8Array.from(atob("H4sIAAAAAAAAA8tIzcnJVyjPL8pJAQCFEUoNCwAAAA=="), (c) => c.charCodeAt(0));
console.log(await new Response(new Blob([gzip]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
const zlib = Uint8Array.from(atob("eJzLSM3JyVcozy/KSQEAGgsEXQ=="), (c) => c.charCodeAt(0));
console.log(await new Response(new Blob([zlib]).stream().pipeThrough(new DecompressionStream("deflate"))).text());
