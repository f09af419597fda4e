// flags:
for (const text of ["http://0x7f.1/", "http://2130706433/", "http://[::0:1]/", "http://EXAMPLE.com./", "http://bücher.example/", "http://ａ.com/", "http://a.b:80/", "https://a.b:443/", "http://[::ffff:1.2.3.4]/"]) {
  console.log(text, new URL(text).host);
}
