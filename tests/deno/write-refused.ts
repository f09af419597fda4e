// flags: --allow-read=. --allow-write=folder
await Deno.writeTextFile("folder/ok.txt", "ok");
console.log(await Deno.readTextFile("folder/ok.txt"));
for (const path of ["no.txt", "folder/../no.txt", "/tmp/clawd-corpus-no.txt"]) {
  try {
    await Deno.writeTextFile(path, "no");
    console.log("written");
  } catch (error) {
    console.log(path, (error as Error).name);
  }
}
