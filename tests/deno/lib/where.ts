export const where = [import.meta.main, import.meta.url.split("/").slice(-2).join("/")];
