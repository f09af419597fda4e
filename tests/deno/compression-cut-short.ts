// flags:
const packed = await new Response(new Blob(["x".repeat(5000)]).stream().pipeThrough(new CompressionStream("gzip"))).bytes();
try { await new Response(new Blob([packed.slice(0, -6)]).stream().pipeThrough(new DecompressionStream("gzip"))).text(); } catch (error) { console.log((error as Error).name); }
