// flags: --allow-read=. --allow-write=.
Deno.writeTextFileSync("new.txt", "one\n");
Deno.writeTextFileSync("new.txt", "two\n", { append: true });
Deno.writeFileSync("new.bin", new Uint8Array([1, 2, 3]));
console.log(Deno.readTextFileSync("new.txt"), Deno.readFileSync("new.bin"));
try {
  Deno.writeTextFileSync("new.txt", "", { createNew: true });
} catch (error) {
  console.log((error as Error).name, error instanceof Deno.errors.AlreadyExists);
}
try {
  Deno.writeFileSync("new.txt", "text" as unknown as Uint8Array);
} catch (error) {
  console.log(error instanceof TypeError);
}
