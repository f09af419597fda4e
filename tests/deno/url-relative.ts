// flags:
const base = "http://example.com/a/b/c?q#h";
for (const relative of ["d", "./d", "../d", "/d", "//other/x", "?z", "#y", "", "https:e", "data:,x", "..", "d/../../e"]) {
  console.log(relative, new URL(relative, base).href);
}
