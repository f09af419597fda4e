// flags:
for (const wrong of ["relative", "https://[", { pathname: "/(" }]) try { new URLPattern(wrong as string); console.log("made"); } catch (error) { console.log((error as Error).name); }
console.log(new URLPattern().test("https://any.thing/at?all#x"));
console.log(new URLPattern({ pathname: "/A" }, { ignoreCase: true }).test("https://a.b/a"));
