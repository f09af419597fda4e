// flags: --allow-read=folder
for (const path of ["folder/../notes.txt", "/etc/hostname", "folder-evil/x", "."]) {
  try {
    console.log(await Deno.readTextFile(path));
  } catch (error) {
    console.log(path, (error as Error).name);
  }
}
