/** Errors of Node's modules, with their codes. Part of a library; runs inside the isolate. */

/** A TypeError whose stack begins as Node's does. */
export function codedError(code: string, message: string): TypeError {
  return Object.assign(new TypeError(message), { code });
}

export function wrongType(name: string, wanted: string, value: unknown): TypeError {
  const shown =
    value === null || value === undefined
      ? `${value}`
      : typeof value === "object"
        ? `an instance of ${value.constructor?.name ?? "Object"}`
        : `type ${typeof value} (${quoted(value)})`;
  const what = name.includes(".") ? "property" : "argument";
  return codedError("ERR_INVALID_ARG_TYPE", `The "${name}" ${what} must be ${wanted}. Received ${shown}`);
}

export function wrongValue(name: string, reason: string, value: unknown): TypeError {
  const what = name.includes(".") ? "property" : "argument";
  return codedError("ERR_INVALID_ARG_VALUE", `The ${what} '${name}' ${reason}. Received ${quoted(value)}`);
}

function quoted(value: unknown): string {
  return typeof value === "string" ? `'${value}'` : String(value);
}
