// flags:
namespace Shapes {
  export const sides = 4;
  export namespace Inner {
    export const deep = true;
  }
}
console.log(Shapes.sides, Shapes.Inner.deep, Shapes);
