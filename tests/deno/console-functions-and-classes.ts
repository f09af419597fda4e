// flags:
function named() {}
class Animal {
  name = "cat";
  legs = 4;
}
class Cat extends Animal {
  get sound() {
    return "meow";
  }
}
console.log(named, () => {}, class {}, Animal, async () => {}, function* gen() {});
console.log(new Animal(), new Cat());
console.log({ method() {}, arrow: () => {}, Animal });
console.log({ get a() { return 1; }, set a(_) {}, get b() { return 1; }, set c(_) {} });
