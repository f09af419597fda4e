// flags:
import path, { posix, win32 } from "node:path";
import join from "node:path/posix";
console.log(path.posix === posix, join.join("a", "../b"), posix.relative("/a/b/c", "/a/d"), typeof win32);
console.log(path.parse("/a/b.c.d"), path.format({ root: "/", name: "n", ext: ".e" }), path.toNamespacedPath("/x"));
for (const text of ["", ".", "..", "/", "//a", "a/", "a//b", "../../a", "/../a", ".a", "a.", "a.b/"])
  console.log([path.normalize(text), path.dirname(text), path.basename(text), path.extname(text), path.isAbsolute(text)]);
