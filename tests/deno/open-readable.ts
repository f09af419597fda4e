// flags: --allow-read=. --allow-write=.
const file = await Deno.open("notes.txt");
for await (const chunk of file.readable.pipeThrough(new TextDecoderStream())) console.log(chunk);
try {
  file.close();
} catch (error) {
  console.log((error as Error).name);
}
