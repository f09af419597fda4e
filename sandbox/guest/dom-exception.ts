/** DOMException, as the Web IDL standard has it. Runs inside the isolate. */

/** In the order of their codes, which start at 1. */
const CONSTANTS = [
  "INDEX_SIZE_ERR",
  "DOMSTRING_SIZE_ERR",
  "HIERARCHY_REQUEST_ERR",
  "WRONG_DOCUMENT_ERR",
  "INVALID_CHARACTER_ERR",
  "NO_DATA_ALLOWED_ERR",
  "NO_MODIFICATION_ALLOWED_ERR",
  "NOT_FOUND_ERR",
  "NOT_SUPPORTED_ERR",
  "INUSE_ATTRIBUTE_ERR",
  "INVALID_STATE_ERR",
  "SYNTAX_ERR",
  "INVALID_MODIFICATION_ERR",
  "NAMESPACE_ERR",
  "INVALID_ACCESS_ERR",
  "VALIDATION_ERR",
  "TYPE_MISMATCH_ERR",
  "SECURITY_ERR",
  "NETWORK_ERR",
  "ABORT_ERR",
  "URL_MISMATCH_ERR",
  "QUOTA_EXCEEDED_ERR",
  "TIMEOUT_ERR",
  "INVALID_NODE_TYPE_ERR",
  "DATA_CLONE_ERR",
] as const;

const CODES: Readonly<Record<string, number>> = {
  IndexSizeError: 1,
  HierarchyRequestError: 3,
  WrongDocumentError: 4,
  InvalidCharacterError: 5,
  NoModificationAllowedError: 7,
  NotFoundError: 8,
  NotSupportedError: 9,
  InUseAttributeError: 10,
  InvalidStateError: 11,
  SyntaxError: 12,
  InvalidModificationError: 13,
  NamespaceError: 14,
  InvalidAccessError: 15,
  TypeMismatchError: 17,
  SecurityError: 18,
  NetworkError: 19,
  AbortError: 20,
  URLMismatchError: 21,
  QuotaExceededError: 22,
  TimeoutError: 23,
  InvalidNodeTypeError: 24,
  DataCloneError: 25,
};

const { hasOwn, defineProperty } = Object;

/** An error by its prototype and its stack. Its name and its message cannot be set. */
export class DOMException extends Error {
  readonly #name: string;
  readonly #message: string;

  constructor(message: unknown = "", options: unknown = "Error") {
    super();
    const bag = typeof options === "object" && options !== null ? (options as ErrorOptions & { name?: unknown }) : null;
    const name = bag ? bag.name : options;
    this.#message = String(message);
    this.#name = name === undefined ? "Error" : String(name);
    if (bag && hasOwn(bag, "cause"))
      defineProperty(this, "cause", { value: bag.cause, writable: true, configurable: true });
  }

  override get name(): string {
    return this.#name;
  }

  override get message(): string {
    return this.#message;
  }

  get code(): number {
    return hasOwn(CODES, this.#name) ? (CODES[this.#name] as number) : 0;
  }

  get [Symbol.toStringTag](): string {
    return "DOMException";
  }
}

for (const [index, constant] of CONSTANTS.entries()) {
  const property = { value: index + 1, enumerable: true };
  defineProperty(DOMException, constant, property);
  defineProperty(DOMException.prototype, constant, property);
}
