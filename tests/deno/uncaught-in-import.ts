// flags:
import { fall } from "./lib/throws.ts";
fall();
