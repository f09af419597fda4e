// flags:
const nothing: unknown = undefined;
(nothing as { x: () => void }).x();
