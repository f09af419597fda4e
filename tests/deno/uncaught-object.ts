// flags:
throw { code: 5 };
