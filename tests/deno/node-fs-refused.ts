// flags: --allow-read=folder
import fs from "node:fs";
for (const work of [
  () => fs.readFileSync("notes.txt", "utf8"),
  () => fs.writeFileSync("folder/inner.txt", "x"),
  () => fs.rmSync("notes.txt", { force: true }),
  () => fs.statSync("notes.txt", { throwIfNoEntry: false }),
  () => fs.readdirSync("."),
]) {
  try {
    console.log(work());
  } catch (error) {
    console.log((error as Error).name);
  }
}
console.log(fs.existsSync("folder/inner.txt"), await fs.promises.readFile("notes.txt").catch((error) => error.name));
