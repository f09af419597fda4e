// flags:
for (const text of ["", "x", "http://", "http://a b/", "http://[::g]/", "http://256.1.1.1/", "//x", "http://a:99999/", "http://%"]) {
  try {
    console.log(new URL(text).href);
  } catch (error) {
    console.log(text, (error as Error).name, error instanceof TypeError);
  }
  console.log(URL.canParse(text), URL.parse(text));
}
