/** A header field as it stands in the message: order, case and repetition are kept. */
export type Header = readonly [name: string, value: string]

/** Every value of a name, in order. Names are compared without case (RFC 9110 section 5.1). */
export function headerValues(headers: readonly Header[], name: string): string[] {
  return headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value)
}

/** The only value of a name; undefined where it is absent or repeated. */
export function headerValue(headers: readonly Header[], name: string): string | undefined {
  const values = headerValues(headers, name)
  return values.length === 1 ? values[0] : undefined
}
