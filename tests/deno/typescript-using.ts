// flags:
{
  using resource = {
    [Symbol.dispose]() {
      console.log("disposed");
    },
  };
  console.log("uses", typeof resource);
  await using other = {
    async [Symbol.asyncDispose]() {
      console.log("disposed later");
    },
  };
  void other;
}
console.log("after");
