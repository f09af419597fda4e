// flags:
for (const url of ["ftp://a.b/", "ws://a.b/#x", "nonsense", "ws://["]) try { new WebSocket(url); console.log("made"); } catch (error) { console.log((error as Error).name); }
console.log(WebSocket.CONNECTING, WebSocket.OPEN, WebSocket.CLOSING, WebSocket.CLOSED);
