export const greeting: string = "hello";
export function greet(name: string): string {
  return `${greeting}, ${name}`;
}
export default class Greeter {
  constructor(private readonly name: string) {}
  greet(): string {
    return greet(this.name);
  }
}
