// flags: --allow-read=. --allow-write=.
(await Deno.open("fresh.txt", { write: true, createNew: true })).close();
try {
  await Deno.open("fresh.txt", { write: true, createNew: true });
} catch (error) {
  console.log(error instanceof Deno.errors.AlreadyExists, (error as { code?: string }).code);
}
