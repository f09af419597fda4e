// flags:
const url = new URL("http://example.com/");
url.pathname = "a b/ü";
url.search = "q=ä b";
url.hash = "#top";
url.port = "8080";
url.protocol = "https";
url.hostname = "EXAMPLE.org";
url.username = "me@";
console.log(url.href);
url.searchParams.append("n", "1&2");
url.searchParams.delete("q");
console.log(url.href);
url.port = "";
url.hash = "";
url.host = "a:1";
console.log(url.href);
