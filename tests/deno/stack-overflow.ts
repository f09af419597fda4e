// flags:
function deeper(): number {
  return 1 + deeper();
}
try {
  deeper();
} catch (error) {
  console.log((error as Error).name, error instanceof RangeError);
}
