// flags:
const stream = new ReadableStream({ start(c) { c.error(new RangeError("broken")); } });
const reader = stream.getReader();
try { await reader.read(); } catch (error) { console.log(String(error)); }
await reader.closed.catch((error) => console.log(String(error)));
const pulls = new ReadableStream({ pull() { throw new TypeError("no"); } });
try { for await (const _ of pulls) console.log("never"); } catch (error) { console.log(String(error)); }
