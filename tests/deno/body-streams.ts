// flags:
const response = new Response(ReadableStream.from([new TextEncoder().encode("one "), new TextEncoder().encode("two")]));
console.log(response.bodyUsed, response.headers.get("content-type"), await response.text(), response.bodyUsed);
const read = new Response("abc");
console.log(read.body === read.body, read.body instanceof ReadableStream);
for await (const chunk of read.body!) console.log(new TextDecoder().decode(chunk));
console.log(read.bodyUsed);
try { await read.text(); } catch (error) { console.log((error as Error).name); }
