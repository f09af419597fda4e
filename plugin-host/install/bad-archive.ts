/** An archive that cannot be unpacked safely. Thrown inside the readers, which stream; `unpackArchive` makes it a `Result`. */
export class BadArchive extends Error {
  override readonly name = "BadArchive";
}
