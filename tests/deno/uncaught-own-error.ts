// flags:
class Broken extends Error {
  override name = "Broken";
}
throw new Broken("mine");
