// flags:
const broken = new ReadableStream<Uint8Array<ArrayBuffer>>({ start(c) { c.enqueue(new Uint8Array([0xff])); c.close(); } });
try { await Array.fromAsync(broken.pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))); } catch (error) { console.log((error as Error).name); }
try { await Array.fromAsync(ReadableStream.from(["text" as unknown as Uint8Array<ArrayBuffer>]).pipeThrough(new TextDecoderStream())); } catch (error) { console.log((error as Error).name); }
try { new TextDecoderStream("no-such"); } catch (error) { console.log((error as Error).name); }
