import { findPythonHome } from "./python-home.ts";
import { MAY_FETCH_LANGUAGES } from "./thoroughness.ts";

/** Runs once, before all suites: several of them need the same packages, and would fetch them beside each other. */
export function setup(): void {
  if (MAY_FETCH_LANGUAGES) findPythonHome(process.env);
}
