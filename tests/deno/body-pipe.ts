// flags:
const upper = new TransformStream({ transform(chunk, c) { c.enqueue(chunk.toUpperCase()); } });
const stream = new Response("loud").body!.pipeThrough(new TextDecoderStream()).pipeThrough(upper).pipeThrough(new TextEncoderStream());
console.log(await new Response(stream).text());
const locked = new Response("x");
locked.body!.getReader();
try { await locked.text(); } catch (error) { console.log((error as Error).name); }
try { new Response(locked.body); } catch (error) { console.log((error as Error).name); }
