// flags: --allow-read=. --allow-write=.
// input: typed\nin\n
import fs, { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

type Failed = Error & { code?: string; errno?: number; syscall?: string; path?: string; dest?: string };
function told(work: () => unknown): void {
  try {
    console.log(work());
  } catch (error) {
    const { name, message, code, errno, syscall, path, dest } = error as Failed;
    console.log("failed:", name, message, code, errno, syscall, path, dest);
  }
}

told(() => readFileSync("notes.txt", "utf8"));
told(() => readFileSync("notes.txt", { encoding: "latin1" }));
told(() => readFileSync("bytes.bin"));
told(() => readFileSync("bytes.bin", "hex") + readFileSync("bytes.bin", "base64"));
told(() => readFileSync(new URL(`file://${Deno.cwd()}/empty.txt`), "utf8"));
told(() => readFileSync("none", "utf8"));
told(() => readFileSync("notes.txt", "no such encoding" as "utf8"));
told(() => readFileSync({} as string));
told(() => existsSync("notes.txt") && !existsSync("none"));
told(() => writeFileSync("new.txt", "one "));
told(() => writeFileSync("new.txt", new TextEncoder().encode("two "), { flag: "a" }));
told(() => fs.appendFileSync("new.txt", "dHdv", "base64"));
told(() => writeFileSync("new.txt", "x", { flag: "wx" }));
told(() => writeFileSync("new.txt", 5 as unknown as string));
told(() => readFileSync("new.txt", "utf8"));
told(() => writeFileSync("nowhere/new.txt", "x"));
told(() => fs.truncateSync("new.txt", 3));
told(() => fs.copyFileSync("new.txt", "copy.txt"));
told(() => fs.renameSync("copy.txt", "moved.txt"));
told(() => fs.renameSync("copy.txt", "moved.txt"));
told(() => fs.statSync("moved.txt").size + Number(fs.statSync("moved.txt").isFile()));
told(() => fs.statSync("none"));
told(() => fs.statSync("none", { throwIfNoEntry: false }));
told(() => fs.lstatSync("folder/link-out").isSymbolicLink());
told(() => fs.statSync("notes.txt").mtime instanceof Date && fs.statSync("notes.txt").mtimeMs > 1e12);
told(() => mkdirSync("made"));
told(() => mkdirSync("made"));
told(() => mkdirSync("made/a/b", { recursive: true }) !== null);
told(() => writeFileSync("made/a/file", ""));
told(() => fs.readdirSync("made", { recursive: true }).sort());
told(() =>
  fs
    .readdirSync("folder", { withFileTypes: true })
    .map((entry) => [entry.name, entry.isFile(), entry.isDirectory(), entry.isSymbolicLink()].join(" "))
    .sort(),
);
told(() => fs.readdirSync("notes.txt"));
told(() => fs.rmdirSync("made"));
told(() => fs.rmdirSync("notes.txt"));
told(() => fs.unlinkSync("none"));
told(() => fs.rmSync("none"));
told(() => fs.rmSync("none", { force: true }));
told(() => fs.rmSync("made", { recursive: true }));
told(() => fs.unlinkSync("moved.txt"));
told(() => fs.accessSync("none"));
told(() => fs.chmodSync("new.txt", 0o755));
told(() => fs.utimesSync("new.txt", 1000, new Date(2000_000)));
told(() => fs.statSync("new.txt").mtimeMs);
told(() => fs.readlinkSync("link-to-notes"));
told(() => fs.realpathSync("link-to-notes") === fs.realpathSync("notes.txt"));
told(() => fs.realpathSync("none"));
told(() => {
  const made = fs.mkdtempSync("temp-");
  return [made.startsWith("temp-"), fs.statSync(made).isDirectory()];
});
told(() => fs.mkdtempSync("nowhere/temp-"));
told(() => readFileSync(0, "utf8"));
told(() => fs.writeSync(1, "on standard output\n"));
