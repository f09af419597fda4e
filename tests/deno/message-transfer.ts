// flags:
const { port1, port2 } = new MessageChannel();
const buffer = new Uint8Array([1, 2, 3]).buffer;
const got = new Promise<MessageEvent>((resolve) => { port2.onmessage = resolve; });
port1.postMessage(buffer, [buffer]);
console.log(buffer.byteLength, (await got).data.byteLength);
try { port1.postMessage(() => {}); } catch (error) { console.log((error as Error).name); }
try { port1.postMessage(1, [port1]); } catch (error) { console.log((error as Error).name); }
port1.close();
port2.close();
