// flags:
console.log(typeof navigator.userAgent, navigator.hardwareConcurrency > 0, typeof navigator.language, navigator instanceof Navigator);
