// flags:
for (const format of ["gzip", "deflate", "deflate-raw"] as const) {
  try {
    await new Response(new Blob([new Uint8Array([255, 254, 253, 1, 2, 3])]).stream().pipeThrough(new DecompressionStream(format))).bytes();
    console.log("unpacked");
  } catch (error) { console.log(format, (error as Error).name); }
}
try { new CompressionStream("lzma" as "gzip"); } catch (error) { console.log((error as Error).name); }
