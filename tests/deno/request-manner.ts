// flags:
const plain = new Request("https://example.com/");
const facts = (of: Request) =>
  [of.mode, of.referrer, of.referrerPolicy, of.integrity, of.keepalive, of.cache, of.credentials, of.redirect].join(" ");
console.log(facts(plain));
const request = new Request("https://example.com/", {
  mode: "no-cors",
  referrer: "https://example.com/from",
  referrerPolicy: "origin",
  integrity: "sha256-abc",
  keepalive: true,
  cache: "no-store",
  credentials: "omit",
  redirect: "manual",
});
console.log(facts(request));
console.log(facts(request.clone()));
console.log(facts(new Request(request, { mode: "cors", keepalive: false })));
for (const name of ["mode", "cache", "credentials", "redirect", "referrerPolicy"]) {
  try {
    new Request("https://example.com/", { [name]: "none such" });
    console.log(name, "taken");
  } catch (error) {
    console.log(name, (error as Error).name);
  }
}
