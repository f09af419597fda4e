/** How objects of the web's classes look when they are printed. Runs inside the isolate. */

const { defineProperty, create } = Object;

/** Printed are these members and these facts, under the class's own name, as Deno prints them. */
export function showMembers(
  kind: { readonly prototype: object },
  members: readonly string[],
  facts: Readonly<Record<string, (value: never) => unknown>> = {},
): void {
  defineProperty(kind.prototype, Symbol.for("Deno.customInspect"), {
    value(this: never, inspect: (value: unknown) => string) {
      const shown = create({ constructor: (this as object).constructor }) as Record<string, unknown>;
      for (const member of members) shown[member] = this[member];
      for (const fact of Object.keys(facts)) shown[fact] = facts[fact]?.(this);
      return inspect(shown);
    },
    writable: true,
    configurable: true,
  });
}
