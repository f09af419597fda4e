// flags:
throw null;
