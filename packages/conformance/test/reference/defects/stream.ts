import { onStatus, withStatus } from '../alterations.ts'
import { CORRECT } from '../behaviour.ts'
import { type Outgoing, replaceBody } from '../message.ts'
import { type Defect, ssr } from './defect.ts'

export const stream: readonly Defect[] = [
  ssr('the shell without products', 'the stream sends the shell before the slow part', {
    parts: (html, nonce) => {
      const [shell, late, end] = CORRECT.parts(html, nonce)
      const at = shell.indexOf('<ul')
      return [shell.slice(0, at), shell.slice(at) + late, end]
    },
  }),
  ssr('the slow part missing', 'the stream adds up to the document', {
    parts: (html, nonce) => CORRECT.parts(html, nonce).with(1, '') as [string, string, string],
  }),
  ssr('the slow part with the shell', 'the stream sends the shell before the slow part', {
    parts: (html) => [html.replace('</body></html>', ''), '', '</body></html>'],
  }),
  ssr('half the delay', 'the slow part comes after the delay', { wait: (ms) => ms / 2 }),
  ssr('a delay of 5000 refused', 'a delay of 5000 is accepted, and the client may leave', {
    refuse: (r) => (r.target.includes('delay=5000') ? 400 : CORRECT.refuse(r)),
  }),
  ssr('a script of the stream without a nonce', 'the stream adds up to the document', {
    parts: (html, nonce) =>
      CORRECT.parts(html, nonce).map((part) => part.replace(` nonce="${nonce}">$RC`, '>$RC')) as [
        string,
        string,
        string,
      ],
  }),
  ssr('items ignored by the stream', 'the stream has the same rules for items', {
    html: (html) => html.replace(/<ul class="teas">.*?<\/ul>/, '<ul class="teas"></ul>'),
  }),
  ssr('the stream with a length', 'the stream is chunked, or ends with the connection in HTTP/1.0', {
    finish: (a) => (a.late ? settled(a) : a),
  }),
  { ...ssr('a stream that should be absent', 'an absent stream is unknown', {}), absent: ['stream'] },
  ssr('POST streams', 'another method on the stream does not wait', onStatus(405, withStatus(200))),
]

function settled({ status, headers, body, late }: Outgoing): Outgoing {
  const whole = Buffer.concat([body, ...(late?.parts ?? [])])
  return replaceBody({ status, headers, body }, whole)
}
