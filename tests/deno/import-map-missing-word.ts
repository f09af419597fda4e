// flags: --import-map=lib/map.json
import { x } from "nowhere";
console.log(x);
