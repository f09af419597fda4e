// flags:
throw "just a text";
