// flags:
const pattern = new URLPattern({ pathname: "/books/:id" });
console.log(pattern.test("https://example.com/books/12"), pattern.test("https://example.com/books/12/x"));
console.log(pattern.exec("https://example.com/books/12")?.pathname);
console.log(pattern.exec("https://example.com/other"));
console.log(pattern.pathname, pattern.protocol, pattern.hasRegExpGroups);
