// flags:
const x = ;
