import { asyncProperty, integer, string } from 'fast-check'
import type { Check } from '../check.ts'
import { problemOf, text } from '../expectation.ts'

/** Names as sent, and their decoded values. */
const NAMES: readonly (readonly [sent: string, meant: string])[] = [
  ['World', 'World'],
  ['%57orld', 'World'],
  ['J%C3%BCrgen', 'Jürgen'],
  ['J%c3%bcrgen', 'Jürgen'],
  ['%F0%9F%8D%B5', '🍵'],
  ['%E5%B1%B1%E7%94%B0', '山田'],
  ['e%CC%81', 'e\u0301'],
  ['a%20b', 'a b'],
  ['%20', ' '],
  ['%3Cb%3E', '<b>'],
  ['%22', '"'],
  ['a%3Fb', 'a?b'],
  ['a%23b', 'a#b'],
  ['a%5Cb', 'a\\b'],
  ['%0D%0A', '\r\n'],
  ['%EF%BB%BFx', '\ufeffx'],
  ['%F4%8F%BF%BF', '\u{10ffff}'],
  ["~-._!$&'()*,;=:@", "~-._!$&'()*,;=:@"],
  ['constructor', 'constructor'],
  ['__proto__', '__proto__'],
  ['x'.repeat(1000), 'x'.repeat(1000)],
]

const SURROGATES = { first: 0xd800, count: 0x800 }

/**
 * Any character of Unicode but NUL, which is rejected. fast-check's unit `binary` means the same, but makes a table of a million
 * characters first, which takes a second or two.
 */
const character = integer({ min: 1, max: 0x10ffff - SURROGATES.count }).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  indexOf,
)

/** Lines about `/hello/:name`. */
export const names: readonly Check[] = [
  table('a name is percent-decoded as UTF-8', NAMES),
  table('an escaped slash in a name is data', [
    ['a%2Fb', 'a/b'],
    ['a%2fb', 'a/b'],
    ['%2F', '/'],
    ['%2F%2F', '//'],
  ]),
  table('a plus in a name is a plus', [
    ['a+b', 'a+b'],
    ['+', '+'],
    ['a%2Bb', 'a+b'],
  ]),
  table('a name is decoded once', [
    ['100%25', '100%'],
    ['%2541', '%41'],
    ['%252F', '%2F'],
    ['%25zz', '%zz'],
  ]),
  table('dots in a name are data', [
    ['...', '...'],
    ['.x', '.x'],
    ['..x', '..x'],
  ]),
  {
    name: 'escaped dots in a name are data, or dot segments',
    section: 'Routes',
    roles: ['hello'],
    async run(probe) {
      await probe.expect({ target: '/hello/%2E' }, [greets('.'), problemOf(404)])
      await probe.expectEach(['/hello/%2E%2E', '/hello/%2e%2e'], [greets('..'), text('Hello World!')])
    },
  },
  {
    name: 'a name is one segment',
    section: 'Routes',
    roles: ['hello'],
    async run(probe) {
      const targets = ['/hello', '/hello?x', '/hello/a/b', '/hello/a/', '/hello//a', '/hello/%2F/b']
      await probe.expectEach(targets, problemOf(404))
    },
  },
  {
    name: 'any name is greeted',
    section: 'Routes',
    roles: ['hello'],
    async run(probe) {
      // Many clients remove a raw dot segment (RFC 3986 section 5.2.4), so it cannot be tested.
      const name = string({ unit: character, minLength: 1, maxLength: 40 }).filter(
        (text) => !/^\.{1,2}$/.test(text),
      )
      await probe.search((holds) =>
        asyncProperty(name, (text) => holds({ target: `/hello/${encodeURIComponent(text)}` }, greets(text))),
      )
    },
  },
]

/** Tells fast-check of which strings a name can be made. @throws {RangeError} for what is not one character */
function indexOf(text: unknown): number {
  const code = typeof text === 'string' ? text.codePointAt(0) : undefined
  if (code === undefined || !(text as string).isWellFormed() || String.fromCodePoint(code) !== text)
    throw new RangeError('This is not one character.')
  return code < SURROGATES.first ? code : code - SURROGATES.count
}

function greets(name: string) {
  return text(`Hello, ${name}!`)
}

function table(name: string, rows: readonly (readonly [sent: string, meant: string])[]): Check {
  return {
    name,
    section: 'Routes',
    roles: ['hello'],
    async run(probe) {
      for (const [sent, meant] of rows) await probe.expect({ target: `/hello/${sent}` }, greets(meant))
    },
  }
}
