// flags: --allow-read=. --allow-write=.
const bytes = (text: string) => new TextEncoder().encode(text);
const file = await Deno.create("streamed.txt");
const writer = file.writable.getWriter();
await writer.write(bytes("one "));
await writer.write(bytes("two"));
await writer.close();
console.log(await Deno.readTextFile("streamed.txt"));
