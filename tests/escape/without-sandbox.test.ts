import { escapeSuite } from "./escape-suite.ts";

// In a file of its own, so that both levels are tried at the same time, each in a process whose loop is watched.
escapeSuite("none");
