// flags:
Deno.test("never", () => console.log("never"));
Deno.test.ignore("not either", () => {});
console.log("loaded");
