/** How many tokens of the models of conversations an extension may use in a day, and whether a person is asked each time. */
export type GenerationGrant = { readonly tokensPerDay: number; readonly asks: boolean };
