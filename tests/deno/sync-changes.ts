// flags: --allow-read=. --allow-write=.
Deno.copyFileSync("notes.txt", "copy.txt");
Deno.renameSync("copy.txt", "moved.txt");
Deno.truncateSync("moved.txt", 5);
console.log(Deno.readTextFileSync("moved.txt"));
Deno.chmodSync("moved.txt", 0o600);
console.log(((Deno.statSync("moved.txt").mode ?? 0) & 0o777).toString(8));
Deno.utimeSync("moved.txt", 1000, new Date(2_000_000));
console.log(Deno.statSync("moved.txt").mtime?.getTime(), Deno.statSync("moved.txt").atime?.getTime());
console.log(Deno.realPathSync("folder/../notes.txt") === Deno.realPathSync("notes.txt"), Deno.readLinkSync("link-to-notes"));
