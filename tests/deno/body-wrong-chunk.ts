// flags:
try { await new Response(ReadableStream.from(["text" as unknown as Uint8Array<ArrayBuffer>])).text(); } catch (error) { console.log((error as Error).name); }
const failing = new ReadableStream({ pull(c) { c.error(new RangeError("broken")); } });
try { await new Response(failing).text(); } catch (error) { console.log(String(error)); }
