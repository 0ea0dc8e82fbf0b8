/** Marks a branch the type system has proven unreachable; a new union member then fails to compile here. */
export function assertNever(value: never): never {
  throw new TypeError(`Cannot handle unexpected value: ${JSON.stringify(value)}`);
}
