import { fromA } from "./ring-a.ts";
export const fromB = () => `b(${fromA()})`;
