// flags:
abstract class Base {
  constructor(
    protected readonly a: number,
    public b = 2,
  ) {}
  abstract sum(): number;
  static #count = 0;
  static made() {
    return ++Base.#count;
  }
}
class Sum extends Base {
  declare extra: string;
  override sum() {
    return this.a + this.b;
  }
}
console.log(new Sum(1).sum(), Base.made(), new Sum(3, 4));
