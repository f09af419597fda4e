// flags:
const error = new DOMException("message", "AbortError");
console.log(error.name, error.message, error.code, error instanceof Error, String(error));
console.log(new DOMException().name, new DOMException("x").code, DOMException.ABORT_ERR);
