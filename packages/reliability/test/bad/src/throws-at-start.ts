/** Cannot start, and says so with a stack. */
export function createDefect(): never {
  throw new Error(`It does not like PORT=${process.env.PORT}`)
}
