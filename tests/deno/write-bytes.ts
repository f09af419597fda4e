// flags: --allow-read=. --allow-write=.
await Deno.writeFile("new.bin", new Uint8Array([0, 255, 10]));
console.log(await Deno.readFile("new.bin"));
await Deno.writeFile("new.bin", new Uint8Array(), { append: true });
console.log((await Deno.stat("new.bin")).size);
await Deno.writeFile("new.bin", new Uint8Array([7]).subarray(0, 1));
console.log(await Deno.readFile("new.bin"));
