/** One thing that a plugin tries, and how the test knows that trying it would show. */
export type Attack = {
  /** What the plugin does, as the rest of "a plugin that …". */
  readonly name: string;
  /**
   * The body of a function, in Python unless `under` is "node". `P` are the places of the house. What it returns is what
   * it got; an error of the system is a refusal.
   */
  readonly code: string;
  readonly under?: "python" | "node";
  /** What it must be told; any refusal unless given. */
  readonly told?: RegExp;
  readonly control: Control;
};

/**
 * How the attack is known to be one. `outside`: the same code gets through without a sandbox. `privileged`: it does, when
 * root runs it on a kernel that can do this at all. `granted`: other code of the same plugin gets through, by its grant.
 */
export type Control =
  | { readonly is: "outside" }
  | { readonly is: "privileged" }
  | { readonly is: "granted"; readonly code: string };

export const OUTSIDE: Control = { is: "outside" };
export const PRIVILEGED: Control = { is: "privileged" };

export function granted(code: string): Control {
  return { is: "granted", code };
}
