// flags:
const headers = new Headers({ "Content-Type": "text/plain", b: " padded " });
headers.append("B", "2");
headers.set("A", "1");
console.log([...headers], headers.get("b"), headers.has("CONTENT-TYPE"));
headers.delete("b");
console.log([...headers.keys()], [...headers.values()]);
for (const [name, value] of [["a b", "x"], ["", "x"], ["ok", "a\nb"]] as const) {
  try {
    headers.set(name, value);
  } catch (error) {
    console.log((error as Error).name);
  }
}
headers.append("Set-Cookie", "a=1");
headers.append("Set-Cookie", "b=2");
console.log(headers.getSetCookie(), headers.get("set-cookie"));
