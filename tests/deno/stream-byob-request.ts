// flags:
let asked = 0;
const stream = new ReadableStream({
  type: "bytes",
  pull(c) {
    const view = c.byobRequest!.view as Uint8Array;
    asked = view.byteLength;
    view[0] = 7;
    c.byobRequest!.respond(1);
  },
});
const { value } = await stream.getReader({ mode: "byob" }).read(new Uint8Array(4));
console.log(asked, [...value!]);
