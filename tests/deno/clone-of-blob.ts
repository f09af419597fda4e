// flags:
const copy = structuredClone({ blob: new Blob(["abc"], { type: "t/x" }), file: new File(["f"], "n", { lastModified: 5 }) });
console.log(copy.blob instanceof Blob, copy.blob.type, await copy.blob.text(), copy.file.name, copy.file.lastModified);
