// flags: --allow-read=. --allow-write=.
import fs from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { promisify } from "node:util";

console.log(await readFile("notes.txt", "utf8"), (await readFile("bytes.bin")).length);
console.log(await readFile("none").catch((error) => [error.message, error.code]));
console.log(await writeFile("new.txt", "text"), (await stat("new.txt")).size);
console.log(await mkdir("made"), await readdir("folder").then((names) => names.sort()));
console.log(await rm("made", { recursive: true }), await rm("none", { force: true }));
console.log(fs.promises.readFile === readFile);

const heard = await new Promise((resolve) => {
  fs.readFile("none", (error, data) => resolve([error?.code, data]));
});
console.log(heard);
await new Promise<void>((resolve) => {
  fs.readFile("notes.txt", "utf8", (error, data) => {
    console.log("read", error, data);
    resolve();
  });
  console.log("before it is read");
});
console.log((await promisify(fs.stat)("new.txt")).isFile());
console.log(await new Promise((resolve) => fs.exists("new.txt", resolve)));
