// flags:
const response = new Response(ReadableStream.from([new TextEncoder().encode("twice")]), { status: 201 });
const copy = response.clone();
console.log(await response.text(), await copy.text(), copy.status);
try { response.clone(); } catch (error) { console.log((error as Error).name); }
const request = new Request("http://a.b/", { method: "POST", body: "x" });
const other = new Request(request, { method: "PUT" });
console.log(request.bodyUsed, await other.text(), other.method);
