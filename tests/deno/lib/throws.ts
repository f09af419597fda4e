export function fall(): never {
  throw new RangeError("fell in the library");
}
