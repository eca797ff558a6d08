import { isOn } from '../alterations.ts'
import type { Behaviour } from '../behaviour.ts'
import { type Defect, hello, ssr } from './defect.ts'

export const connections: readonly Defect[] = [
  hello('dead after OPTIONS', 'a connection is usable after every kind of response', {
    staysOpen: (_, r) => !isOn(r, 'OPTIONS'),
  }),
  hello('connection: close ignored', 'connection: close is honoured', { staysOpen: () => true }),
  hello('HTTP/1.0 kept open', 'HTTP/1.0 gets a response and a close, with and without Host', {
    staysOpen: () => true,
  }),
  hello('the head in one piece or not at all', 'a request may arrive byte by byte', { patient: false }),
  hello('the head in one piece or nothing', 'a request may be split anywhere', { patient: false }),
  hello('no 100 where it is expected', 'Expect: 100-continue gets a response', { continues: false }),
  hello('200 for garbage', 'bytes that are not HTTP get 400 or a closed connection', { garbage: 200 }),
  hello('no keep-alive', 'a connection serves 50 requests', { staysOpen: () => false }),
  hello('pipelining out of order', 'pipelined requests get their responses in order', {
    inOrder: false,
    pause: ({ headers }) => (headers.some(([, value]) => value === 'pipelined-3') ? 20 : 0),
  }),
  ssr('closed after a stream', 'requests behind a stream get their responses after it', {
    staysOpen: ({ late }) => late === undefined,
  }),
  hello('the id of the request before', 'pipelined requests get their responses in order', mixedUp()),
  hello('responses mixed up', '100 requests at once are not mixed up', mixedUp()),
]

/** Each response carries the id of the request before. */
function mixedUp(): Partial<Behaviour> {
  let before = 'none'
  return {
    requestId: ([id = 'none']) => {
      const given = before
      before = id
      return given
    },
  }
}
