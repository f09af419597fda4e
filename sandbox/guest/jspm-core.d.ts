/** Node's modules for other runtimes; the package has no types of its own. */
declare module "@jspm/core/nodelibs/*";
