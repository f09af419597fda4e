// flags: --allow-read=.
for (const path of ["", "a\0b", 5, null, undefined, {}]) {
  try {
    await Deno.readTextFile(path as string);
    console.log("read");
  } catch (error) {
    console.log(error instanceof Error);
  }
}
