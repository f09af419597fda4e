// flags: --import-map=lib/map.json
import { greet } from "greeting";
import { slow } from "#lib/slow.ts";
import { basename } from "paths";
console.log(greet("map"), slow, basename("/a/b"));
