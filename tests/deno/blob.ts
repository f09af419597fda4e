// flags:
const blob = new Blob(["hello ", new Uint8Array([119]), new Blob(["orld"])], { type: "Text/Plain" });
console.log(blob.size, blob.type, await blob.text(), await blob.slice(1, 4).text());
console.log(new Uint8Array(await blob.arrayBuffer()).length);
