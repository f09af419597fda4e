// flags:
