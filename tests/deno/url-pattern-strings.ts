// flags:
const pattern = new URLPattern("https://*.example.com/:kind/*?q=:query");
const found = pattern.exec("https://api.example.com/a/b/c?q=x");
console.log(found?.hostname.groups, found?.pathname.groups, found?.search.groups);
console.log(new URLPattern("/a/:b?", "https://example.com").test("https://example.com/a"));
console.log(new URLPattern({ pathname: "/(\\d+)" }).test("/12", "https://a.b"), new URLPattern({ pathname: "/(\\d+)" }).hasRegExpGroups);
