// flags:
setTimeout((a: number, b: string) => console.log(a, b), 1, 42, "x");
setTimeout(() => console.log("text"), "3" as unknown as number);
