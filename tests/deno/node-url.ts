// flags:
import { fileURLToPath, pathToFileURL, URL } from "node:url";
console.log(fileURLToPath("file:///a%20b/c"), pathToFileURL("/a b").href, new URL("../x", "http://a/b/c/d").href);
