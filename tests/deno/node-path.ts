// flags:
import path, { basename, join, resolve } from "node:path";
console.log(basename("/a/b.txt", ".txt"), join("a", "..", "b"), path.extname("x.tar.gz"), path.relative("/a/b", "/a/c/d"));
console.log(resolve("/x", "../y"), path.normalize("/a//b/./c/.."), path.parse("/home/me/file.txt"), path.isAbsolute("a"));
console.log(path.dirname("/a/b/c"), path.sep, path.delimiter, path.format({ dir: "/d", base: "b" }));
