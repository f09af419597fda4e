// flags:
const form = new FormData();
form.append("name", "va\"lue\r\n");
form.append("file", new File(["content"], "a b.txt", { type: "text/x" }));
form.append("blob", new Blob(["b"]));
const back = await new Response(form).formData();
for (const [name, value] of back) console.log(name, typeof value === "string" ? JSON.stringify(value) : [value.name, value.type, await value.text()]);
const coded = await new Response("a=1&b=%20x", { headers: { "content-type": "application/x-www-form-urlencoded" } }).formData();
console.log([...coded]);
try { await new Response("x", { headers: { "content-type": "text/plain" } }).formData(); } catch (error) { console.log((error as Error).name); }
