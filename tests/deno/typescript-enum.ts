// flags:
enum Color {
  Red,
  Green = 5,
  Blue,
  Text = "t",
}
const enum Fast {
  A = 1,
}
console.log(Color.Red, Color.Blue, Color[5], Color.Text, Fast.A, Color);
