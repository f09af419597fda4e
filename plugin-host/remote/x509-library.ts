// First: the library looks for it while it is loaded.
import "reflect-metadata";
import * as library from "@peculiar/x509";

/** The certificate library. Import this file dynamically: most daemons have no use for it. */
export const x509 = library;
