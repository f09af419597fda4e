// flags:
const listener = () => {};
Deno.addSignalListener("SIGINT", listener);
Deno.addSignalListener("SIGTERM", listener);
Deno.removeSignalListener("SIGINT", listener);
try {
  Deno.addSignalListener("SIGNONE" as never, listener);
} catch (error) {
  console.log((error as Error).name, (error as Error).message);
}
console.log("ends by itself");
