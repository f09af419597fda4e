import { fromB } from "./ring-b.ts";
export const fromA = () => "a";
export const both = () => fromA() + fromB();
