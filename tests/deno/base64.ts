// flags:
console.log(btoa("hello"), atob("aGVsbG8="), atob(" aGVs bG8 "), btoa(""), atob(""), btoa("\x00\xff"));
for (const [work, input] of [[btoa, "€"], [atob, "a"], [atob, "a=b"], [atob, "ä"]] as const) {
  try {
    console.log(work(input));
  } catch (error) {
    console.log((error as DOMException).name, (error as DOMException).code, error instanceof DOMException);
  }
}
