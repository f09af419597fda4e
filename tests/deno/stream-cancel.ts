// flags:
let reason;
const stream = new ReadableStream({ cancel(why) { reason = why; } });
await stream.cancel("enough");
console.log(reason);
const locked = new ReadableStream();
locked.getReader();
try { await locked.cancel(); } catch (error) { console.log((error as Error).name); }
try { locked.getReader(); } catch (error) { console.log((error as Error).name); }
