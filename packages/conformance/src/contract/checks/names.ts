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
  // A slash is data, a plus is a plus, and so are dots.
  ['a%2Fb', 'a/b'],
  ['a%2fb', 'a/b'],
  ['%2F', '/'],
  ['%2F%2F', '//'],
  ['a+b', 'a+b'],
  ['+', '+'],
  ['a%2Bb', 'a+b'],
  ['...', '...'],
  ['.x', '.x'],
  ['..x', '..x'],
  // What was decoded is not decoded again.
  ['100%25', '100%'],
  ['%2541', '%41'],
  ['%252F', '%2F'],
  ['%25zz', '%zz'],
]

/** Lines about `/hello/:name`. */
export const names: readonly Check[] = [
  {
    name: 'a name is percent-decoded as UTF-8, once',
    roles: ['hello'],
    async run(probe) {
      for (const [sent, meant] of NAMES)
        await probe.expect({ target: `/hello/${sent}` }, text(`Hello, ${meant}!`))
    },
  },
  {
    name: 'a name is one segment',
    roles: ['hello'],
    async run(probe) {
      const targets = ['/hello', '/hello?x', '/hello/a/b', '/hello/a/', '/hello//a', '/hello/%2F/b']
      await probe.expectEach(targets, problemOf(404))
    },
  },
]
