import { setTimeout as sleep } from 'node:timers/promises'
import { type Header, type Request, requestBytes } from '@startgrid/wire/request.ts'
import { authority, connect } from '@startgrid/wire/target.ts'
import { ask } from '../clients.ts'
import { type Routes, type Server, uploadOf } from '../routes.ts'
import { certain, type Fault, type Finding, fine, found, type Subject } from '../subject.ts'

/** A request that has killed or stopped a server somewhere. */
interface Input extends Request {
  readonly what: string
}

/** So many connections send an input at the same time: what holds a server up does so longer. */
const COPIES = 3

/** Milliseconds within which health must respond meanwhile, this many times its baseline, and a wait that nobody notices. */
const HEALTH_MS = 2_000
const TIMES = 20
const UNNOTICED_MS = 60

/** Inputs that are named: others often have the same cause. */
const MOST = 3

/** Milliseconds that a crash may come later, and inputs that are sent before it is waited for. */
const LATER_MS = 250
const TOGETHER = 10

/** Requests that no browser sends: it lives, and serves others. */
export const odd: Fault = {
  name: 'odd',
  atOnce: 3,
  async run(subject) {
    const { deadly = [], health } = subject.routes
    const findings: Finding[] = deadly.map((what) => certain('odd', 'dies', what))
    const inputs = inputsFor(subject.routes)
    let server = await subject.start()
    const usual: number[] = []
    for (let tried = 0; tried < 8; tried++)
      usual.push(await waitBeside(subject, server, { target: subject.routes.pages[0]?.path ?? health }))
    // The slowest: a limit for a server that is slow by itself, and for a busy machine.
    const baseline = Math.max(...usual)
    const limit = Math.min(HEALTH_MS, Math.max(UNNOTICED_MS, TIMES * baseline))
    for (let at = 0; at < inputs.length && findings.length < MOST; at += TOGETHER) {
      const group = inputs.slice(at, at + TOGETHER)
      for (const input of group) {
        const wait = await shortestWait(subject, server, input, limit)
        if (wait === undefined) continue
        const said = wait >= HEALTH_MS ? 'does not respond within 2 s' : `waits for ${Math.round(wait)} ms`
        const beside = `${Math.ceil(baseline)} ms beside plain requests`
        findings.push(found('odd', 'hangs', `${input.what}: ${health} ${said}, and ${beside}`))
        server = await subject.start()
      }
      await sleep(LATER_MS)
      if (server.whyEnded() === undefined) continue
      findings.push(await nameDeadly(subject, group))
      server = await subject.start()
    }
    if (findings.length > 0) return findings
    return [fine('odd', `${inputs.length} odd requests: it lives, and ${health} responds meanwhile`)]
  },
}

/** @returns the shortest of three waits for health beside an input; undefined if one is within the limit, or nobody is there */
async function shortestWait(
  subject: Subject,
  server: Server,
  input: Input,
  limit: number,
): Promise<number | undefined> {
  let shortest = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < 3; tried++) {
    shortest = Math.min(shortest, await waitBeside(subject, server, input))
    if (shortest <= limit || server.whyEnded() !== undefined) return undefined
  }
  return shortest
}

/** Sends an input, and asks for health meanwhile. @returns how long that took */
async function waitBeside({ routes }: Subject, { target }: Server, input: Request): Promise<number> {
  const { headers, health } = routes
  const bytes = requestBytes({ ...input, headers: [...headers, ...(input.headers ?? [])] }, authority(target))
  const sockets = Array.from({ length: COPIES }, () =>
    connect(target)
      .on('error', () => {})
      .resume(),
  )
  for (const socket of sockets) socket.write(bytes)
  await sleep(3)
  const beganAt = performance.now()
  await ask(target, { target: health, headers }, { timeoutMs: HEALTH_MS })
  const wait = performance.now() - beganAt
  for (const socket of sockets) socket.destroy()
  return wait
}

/** Which of several inputs has ended it: each is sent to a fresh start, the last one first. */
async function nameDeadly(subject: Subject, suspects: readonly Input[]): Promise<Finding> {
  for (const input of suspects.toReversed()) {
    const server = await subject.start()
    await waitBeside(subject, server, input)
    await sleep(LATER_MS)
    const reason = server.whyEnded()
    if (reason !== undefined) return certain('odd', 'dies', `${input.what}: ${reason}`)
  }
  return certain('odd', 'dies', `several of these together: ${suspects.map(({ what }) => what).join('; ')}`)
}

const LONG = 15_000
const SPACES = `x${' '.repeat(LONG)}x`
const DIGITS = '9'.repeat(LONG)

/** In less than 16 KiB, which Node allows. */
const MANY = Array.from({ length: 2_000 }, (_, index): Header => [index.toString(36).padStart(3, '0'), '1'])

const UPGRADE: readonly Header[] = [
  ['connection', 'Upgrade'],
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
  ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
]

/** Values that a handler may not expect in a query or a path. */
const VALUES = [
  '%25',
  '%',
  '%C0%AF%FF',
  '%00',
  '[a][b]=c',
  '__proto__',
  `a${'+'.repeat(1_000)}a`,
  '9'.repeat(1_000),
]

/** Names that routes use: each gets the odd value. */
const NAMES = ['id', 'name', 'q', 'email', 'page', 'limit', 'url', 'path', 'file', 'date', 'sort', 'callback']

const TARGETS = [
  '//x@x',
  '//',
  '/%',
  'http://[',
  'http://x:y/',
  '*',
  '?',
  '/\\..\\',
  `/${'../'.repeat(2_000)}`,
]
const METHODS = ['OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'FOO', 'DELETE', 'PUT']

/** Headers that somebody parses, each with what has held up or killed a parser. */
const HEADERS: readonly (readonly [name: string, ...values: string[]])[] = [
  ['host', '', '[', 'x@y', 'a:b:c', 'localhost:99999', '%00', 'http://x', 'x/../y?z#', 'a.'.repeat(4_000)],
  ['x-forwarded-proto', SPACES, `,${' '.repeat(LONG)}`],
  ['x-forwarded-host', SPACES, 'a:b:c', '[', '%'],
  ['x-forwarded-for', SPACES, ','.repeat(LONG), 'unknown', '::1%eth0, [::1]:x'],
  ['forwarded', SPACES, `for="${'\\'.repeat(LONG)}`, 'for=;;,='],
  [
    'cookie',
    `a=${'%'.repeat(LONG)}`,
    '=;'.repeat(7_000),
    `a="${'\\'.repeat(LONG)}`,
    '__proto__=1',
    'a=%E0%A4%A',
  ],
  ['accept', 'a/b;q=0.1,'.repeat(1_500), ';;', `text/html;${' '.repeat(LONG)}x`],
  ['accept-encoding', 'gzip;q=x,'.repeat(1_500), '*;q=0, identity;q=0'],
  ['accept-language', '-a'.repeat(7_000), '*-*-*'],
  ['range', `bytes=${'0-0,'.repeat(3_000)}`, 'bytes=9-1,-0,x', `bytes=${'9'.repeat(40)}-`],
  ['if-none-match', 'W/"a",'.repeat(2_000)],
  ['if-modified-since', 'x', DIGITS],
  ['authorization', 'Basic', 'Basic %%%', `Bearer ${'.'.repeat(LONG)}`, `Digest ${'a="\\'.repeat(3_000)}`],
  ['origin', 'null', 'http://[', SPACES],
  ['referer', 'http://[', '%'],
  ['user-agent', 'Mozilla/5.0 ('.repeat(1_000), SPACES],
  ['next-action', 'x'],
]

/** Of a POST. */
const TYPES = [
  '',
  ';',
  '/',
  'multipart/form-data',
  'application/json; charset=none',
  `text/html;${' '.repeat(LONG)}x`,
  `a/b; c="${'\\"'.repeat(7_000)}`,
]
const CODINGS = ['gzip', 'br', 'deflate, gzip, x']

/** Of an upgrade. */
const EXTENSIONS = [
  'permessage-deflate; server_max_window_bits=99',
  `permessage-deflate;${' '.repeat(LONG)}x`,
]

const PART = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc'
const DISPOSITION = 'content-disposition: form-data; name'

/** Bodies of a POST by what they are. */
const BODIES: readonly (readonly [type: string, what: string, body: string | Uint8Array])[] = [
  ['application/json', 'deep JSON', `${'['.repeat(40_000)}${']'.repeat(40_000)}`],
  ['application/json', 'JSON that is cut off', '{"a":'],
  ['application/json', 'a number of 80,000 digits', `{"id":${'9'.repeat(80_000)}}`],
  ['application/json', 'a prototype', '{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}},"then":1}'],
  ['application/json', 'null', 'null'],
  ['application/json', 'nothing', ''],
  ['application/json', 'JSON that is no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
  ...['null', '{}', '[[]]', '1e999', `"${'a@'.repeat(3_000)}!"`, `"x${' '.repeat(6_000)}x"`].map(
    (value) =>
      [
        'application/json',
        `fields that are ${short(value)}`,
        `{${NAMES.map((name) => `"${name}":${value}`).join()}}`,
      ] as const,
  ),
  ['application/x-www-form-urlencoded', 'a form with a deep name', `a${'[b]'.repeat(20_000)}=c`],
  ['application/x-www-form-urlencoded', 'a form of 20,000 fields', 'a&'.repeat(20_000)],
  ['application/x-www-form-urlencoded', 'a form with broken escapes', 'a=%&%=%FF&b=%C0%AF'],
  ['multipart/form-data; boundary=x', 'multipart that is cut off', PART],
  [
    'multipart/form-data; boundary=x',
    'multipart with a broken head',
    `--x\r\n${DISPOSITION}=\r\n:\r\n\r\n--x--`,
  ],
  [
    'multipart/form-data; boundary=x',
    'multipart with a head of a space',
    `--x\r\n ${DISPOSITION}="a"\r\n\r\n1\r\n--x--\r\n`,
  ],
  ['multipart/form-data; boundary=x', 'multipart without a head', '--x\r\n\r\n\r\n--x--\r\n'],
  [
    'multipart/form-data; boundary=x',
    'a file without a name',
    `--x\r\n${DISPOSITION}=""; filename="a"\r\n\r\n1\r\n--x--\r\n`,
  ],
  [
    'multipart/form-data; boundary=x',
    'a field of a prototype',
    `--x\r\n${DISPOSITION}="__proto__[a]"\r\n\r\n1\r\n--x--\r\n`,
  ],
  ['application/json', 'a body longer than announced', '{}GET'],
]

/** The fixed set, for what this server has. */
function inputsFor({ pages, stream, upload, health }: Routes): Input[] {
  const first = pages[0]?.path ?? health
  const paths = [...new Set([...pages.map(({ path }) => path), stream ?? first])].slice(0, 6)
  const of = (name: string, value: string): Input => ({
    what: `${name}: ${short(value)}`,
    target: first,
    headers: [[name, value]],
  })
  const get = (target: string): Input => ({ what: `GET ${short(target)}`, target })
  const posts = [...new Set([upload?.path ?? first, first])].flatMap((target) =>
    BODIES.map(
      ([type, what, body]): Input => ({
        what: `POST ${target}: ${what}`,
        method: 'POST',
        target,
        headers: [['content-type', type]],
        body,
      }),
    ),
  )
  return [
    { what: 'an upgrade with 2,000 headers', target: first, headers: [...MANY, ...UPGRADE] },
    { what: '2,000 headers', target: first, headers: MANY },
    ...[...paths, '/ws', '/socket.io/?EIO=4&transport=websocket'].map((target) => ({
      what: `an upgrade of ${target}`,
      target,
      headers: UPGRADE,
    })),
    ...paths.flatMap((path) => {
      const [bare = ''] = path.split('?')
      return VALUES.flatMap((value) => [
        {
          ...get(`${bare}?${NAMES.map((name) => `${name}=${value}`).join('&')}`),
          what: `GET ${bare} with ${short(value)} in its query`,
        },
        get(path.replaceAll(/=[^&]*/g, () => `=${value}`)),
        get(`${bare.replace(/\/$/, '')}/${value}`),
      ])
    }),
    ...TARGETS.map(get),
    ...METHODS.map((method) => ({ what: method, method, target: first })),
    ...HEADERS.flatMap(([name, ...values]) => values.map((value) => of(name, value))),
    ...EXTENSIONS.map((value) => {
      const { what, ...request } = of('sec-websocket-extensions', value)
      return { ...request, what, headers: [...UPGRADE, ...(request.headers ?? [])] }
    }),
    ...TYPES.map((value) => ({ ...of('content-type', value), method: 'POST', body: '{"a":1}' })),
    ...CODINGS.map((value) => ({ ...of('content-encoding', value), method: 'POST', body: '{"a":1}' })),
    ...posts,
    ...(upload === undefined
      ? []
      : [{ ...uploadOf(upload, [], 'a', 100_000), what: 'an upload that is cut off' }]),
  ]
}

/** A long value by its beginning and length. */
function short(value: string): string {
  return value.length <= 40 ? value : `${value.slice(0, 12).trim()}… (${value.length} bytes)`
}
