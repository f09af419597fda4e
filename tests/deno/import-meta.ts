// flags:
console.log(import.meta.main, typeof import.meta.url, import.meta.url.startsWith("file:///"));
