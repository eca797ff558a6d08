import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds } from '@startgrid/machine/processes.ts'
import type { Header, Request } from '@startgrid/wire/request.ts'
import { send } from '../clients.ts'
import { certain, type Finding, fine } from '../finding.ts'
import { type Routes, type Server, uploadOf } from '../routes.ts'
import type { Subject } from '../subject.ts'

/** A request that has killed or stopped a server somewhere. */
interface Input extends Request {
  readonly what: string
}

/** Milliseconds for which a server may compute before health responds. */
const HEALTH_MS = 2_000

/** Milliseconds that a crash may come later, and inputs that are sent before it is waited for. */
const LATER_MS = 250
const TOGETHER = 10

/** Requests that no browser sends: it lives, and serves others. */
export async function tryInputs(subject: Subject): Promise<readonly Finding[]> {
  const { deadly = [], health, page } = subject.routes
  const findings: Finding[] = deadly.map((what) => certain('dies', what))
  const inputs = inputsFor(subject.routes)
  let server = await subject.start()
  // The slowest: a limit for a server that is slow by itself, and for a busy machine. Nobody notices 60 ms.
  const baseline = await usualWait(subject, server, page.path)
  const limit = Math.min(HEALTH_MS, Math.max(60, 20 * baseline))
  // Three are named: others often have the same cause.
  for (let at = 0; at < inputs.length && findings.length < 3; at += TOGETHER) {
    const group = inputs.slice(at, at + TOGETHER)
    for (const input of group) {
      const wait = await shortestWait(subject, server, input, limit)
      if (wait === undefined) continue
      server = await startAnew(subject)
      // A plain request may cost as much at this moment, and a busy machine may have done it once.
      if ((await usualWait(subject, server, input.target)) > wait / 2) continue
      const again = await waitBeside(subject, server, input)
      server = await startAnew(subject)
      if (again <= limit) continue
      const said = wait >= HEALTH_MS ? 'does not respond' : `waits for ${Math.round(wait)} ms`
      const beside = `${Math.ceil(baseline)} ms beside plain requests`
      // It was tried four times.
      findings.push(certain('hangs', `${input.what}: ${health} ${said}, and ${beside}`))
    }
    await sleep(LATER_MS)
    if (server.whyEnded() === undefined) continue
    findings.push(await nameDeadly(subject, group))
    server = await startAnew(subject)
  }
  if (findings.length > 0) return findings
  return [fine(`${inputs.length} odd requests: it lives, and ${health} responds meanwhile`)]
}

/** What hangs may use a core, and the next one would be accused of that. */
async function startAnew(subject: Subject): Promise<Server> {
  await subject.end()
  return subject.start()
}

/** @returns the shortest of three waits for health beside an input; undefined if one is within the limit, or nobody is there */
async function shortestWait(subject: Subject, server: Server, input: Input, limit: number) {
  let shortest = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < 3; tried++) {
    shortest = Math.min(shortest, await waitBeside(subject, server, input))
    if (shortest <= limit || server.whyEnded() !== undefined) return undefined
  }
  return shortest
}

/** @returns the longest wait for health beside plain requests: of a page, of what there is not, and of a stream if `path` is below it */
async function usualWait(subject: Subject, server: Server, path: string): Promise<number> {
  const { page, stream } = subject.routes
  const [root = ''] = stream?.split('?') ?? []
  const targets = [page.path, '/there-is-none', ...(stream && path.startsWith(root) ? [stream] : [])]
  const waits: number[] = []
  for (const target of [...targets, ...targets, ...targets])
    waits.push(await waitBeside(subject, server, { target }))
  return Math.max(...waits)
}

/** Sends an input, and asks for health meanwhile. @returns milliseconds for which the server computed until its response, or all of them if there is none */
async function waitBeside(subject: Subject, server: Server, input: Request): Promise<number> {
  const request = { ...input, headers: [...subject.routes.headers, ...(input.headers ?? [])] }
  const cpu = () => 1_000 * (cpuSeconds(server.pids()) ?? Number.NaN)
  const before = cpu()
  // What holds a server up does so longer if it is sent three times.
  const sockets = [1, 2, 3].map(() => send(server.target, request))
  await sleep(3)
  // On a busy machine, other processes use most of the time.
  const hung = new AbortController()
  const timer = setInterval(() => cpu() - before > HEALTH_MS && hung.abort(), 100)
  const timeoutMs = Number.isNaN(before) ? HEALTH_MS : 30_000
  const { seen, ms } = await subject.probe(server, { timeoutMs, signal: hung.signal })
  clearInterval(timer)
  for (const socket of sockets) socket.destroy()
  if (hung.signal.aborted || seen.error?.failure === 'timeout') return Math.max(ms, HEALTH_MS)
  return Number.isNaN(before) ? ms : Math.min(cpu() - before, ms)
}

/** Which of several inputs has ended it: each is sent to a fresh start, the last one first. */
async function nameDeadly(subject: Subject, suspects: readonly Input[]): Promise<Finding> {
  for (const input of suspects.toReversed()) {
    const server = await startAnew(subject)
    await waitBeside(subject, server, input)
    await sleep(LATER_MS)
    const reason = server.whyEnded()
    if (reason !== undefined) return certain('dies', `${input.what}: ${reason}`)
  }
  return certain('dies', `amid ${suspects.length} odd requests, but of none of them alone`)
}

const LONG = 15_000
const SPACES = `x${' '.repeat(LONG)}x`
const DIGITS = '9'.repeat(LONG)

/** In less than 16 KiB, which Node allows. */
const MANY = Array.from({ length: 2_000 }, (_, index): Header => [index.toString(36), '1'])

const UPGRADE: readonly Header[] = [
  ['connection', 'Upgrade'],
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
  ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
]

/** Values that a handler may not expect in a query or a path. */
const VALUES = ['%25', '%', '%C0%AF%FF', '%00', '__proto__', `a${'+'.repeat(1_000)}a`, '9'.repeat(1_000)]

/** Queries of which $ is a name: a value that is an object, and one that says to be a very long list. */
const NESTED = ['$[a][b]=c', '$[__proto__]=b&$[__proto__]&$[length]=100000000']

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

/** Headers that somebody parses, each with what has held up or killed a parser: of a GET, of a body, of an upgrade. */
const HEADERS: readonly (readonly [name: string, ...values: string[]])[] = [
  ['host', '', '[', 'x@y', 'a:b:c', 'localhost:99999', '%00', 'http://x', 'x/../y?z#', 'a.'.repeat(4_000)],
  ['x-forwarded-proto', SPACES, `,${' '.repeat(LONG)}`],
  ['x-forwarded-host', SPACES, 'a:b:c', '[', '%'],
  ['x-forwarded-for', SPACES, ','.repeat(LONG), 'unknown', '::1%eth0, [::1]:x'],
  ['forwarded', SPACES, `for="${'\\'.repeat(LONG)}`, 'for=;;,='],
  ['cookie', `a=${'%'.repeat(LONG)}`, '=;'.repeat(7_000), `a="${'\\'.repeat(LONG)}`],
  ['cookie', '__proto__=1', 'a=%E0%A4%A'],
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
  ['content-type', '', ';', '/', 'multipart/form-data', 'application/json; charset=none'],
  ['content-type', `text/html;${' '.repeat(LONG)}x`, `a/b; c="${'\\"'.repeat(7_000)}`],
  ['content-encoding', 'gzip', 'br', 'deflate, gzip, x'],
  ['sec-websocket-extensions', 'permessage-deflate; server_max_window_bits=99'],
  ['sec-websocket-extensions', `permessage-deflate;${' '.repeat(LONG)}x`],
]

const DISPOSITION = 'content-disposition: form-data; name'

/** Bodies of a POST, by their type and what they are. */
const BODIES: Readonly<Record<string, Readonly<Record<string, string | Uint8Array>>>> = {
  'application/json': {
    'deep JSON': `${'['.repeat(40_000)}${']'.repeat(40_000)}`,
    'JSON that is cut off': '{"a":',
    'a number of 80,000 digits': `{"id":${'9'.repeat(80_000)}}`,
    'a prototype': '{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}},"then":1}',
    null: 'null',
    nothing: '',
    'JSON that is no UTF-8': Buffer.from([0x22, 0xff, 0xfe, 0x22]),
    'JSON with more after it': '{}GET',
    'fields that are null': fieldsOf('null'),
    'fields that are objects': fieldsOf('{}'),
    'fields that are deep lists': fieldsOf('[[]]'),
    'fields that are infinite': fieldsOf('1e999'),
    'fields that are long addresses': fieldsOf(`"${'a@'.repeat(3_000)}!"`),
    'fields that are spaces': fieldsOf(`"x${' '.repeat(6_000)}x"`),
  },
  'application/x-www-form-urlencoded': {
    'a form with a deep name': `a${'[b]'.repeat(20_000)}=c`,
    'a form of 20,000 fields': 'a&'.repeat(20_000),
    'a form with broken escapes': 'a=%&%=%FF&b=%C0%AF',
  },
  'multipart/form-data; boundary=x': {
    'multipart that is cut off': `--x\r\n${DISPOSITION}="file"; filename="a"\r\n\r\nabc`,
    'multipart with a broken head': `--x\r\n${DISPOSITION}=\r\n:\r\n\r\n--x--`,
    'multipart with a head of a space': `--x\r\n ${DISPOSITION}="a"\r\n\r\n1\r\n--x--\r\n`,
    'multipart without a head': '--x\r\n\r\n\r\n--x--\r\n',
    'a file without a name': `--x\r\n${DISPOSITION}=""; filename="a"\r\n\r\n1\r\n--x--\r\n`,
    'a field of a prototype': `--x\r\n${DISPOSITION}="__proto__[a]"\r\n\r\n1\r\n--x--\r\n`,
  },
}

function fieldsOf(value: string): string {
  return `{${NAMES.map((name) => `"${name}":${value}`).join()}}`
}

/** The fixed set, for what this server has. */
function inputsFor({ page, pages, stream, upload }: Routes): Input[] {
  const target = page.path
  const paths = [...new Set([...pages.map(({ path }) => path), stream ?? target])].slice(0, 6)
  const get = (path: string): Input => ({ what: `GET ${short(path)}`, target: path })
  const upgrade = (path: string): Input => ({ what: `an upgrade of ${path}`, target: path, headers: UPGRADE })
  const withHeader = (name: string, value: string): Input => {
    const input = { what: `${name}: ${short(value)}`, target }
    const headers: readonly Header[] = [[name, value]]
    if (name.startsWith('content-')) return { ...input, headers, method: 'POST', body: '{"a":1}' }
    return { ...input, headers: name.startsWith('sec-') ? [...UPGRADE, ...headers] : headers }
  }
  const post = (path: string, type: string, [what, body]: [string, string | Uint8Array]): Input => {
    const headers: readonly Header[] = [['content-type', type]]
    return { what: `POST ${path}: ${what}`, method: 'POST', target: path, headers, body }
  }
  return [
    { what: 'an upgrade with 2,000 headers', target, headers: [...MANY, ...UPGRADE] },
    { what: '2,000 headers', target, headers: MANY },
    ...[...paths, '/ws', '/socket.io/?EIO=4&transport=websocket'].map(upgrade),
    ...paths.flatMap((path) => {
      const [bare = ''] = path.split('?')
      const queries = [...VALUES.map((value) => `$=${value}`), ...NESTED].map((query) => ({
        what: `GET ${bare} with ${short(query.replace('$=', '').replaceAll('$', 'id'))} in its query`,
        target: `${bare}?${NAMES.map((name) => query.replaceAll('$', () => name)).join('&')}`,
      }))
      const others = VALUES.flatMap((value) => [
        get(path.replaceAll(/=[^&]*/g, () => `=${value}`)),
        get(`${bare.replace(/\/$/, '')}/${value}`),
      ])
      return [...queries, ...others]
    }),
    ...TARGETS.map(get),
    ...METHODS.map((method) => ({ what: method, method, target })),
    ...HEADERS.flatMap(([name, ...values]) => values.map((value) => withHeader(name, value))),
    ...[...new Set([upload?.path ?? target, target])].flatMap((path) =>
      Object.entries(BODIES).flatMap(([type, bodies]) =>
        Object.entries(bodies).map((body) => post(path, type, body)),
      ),
    ),
    ...(upload ? [{ ...uploadOf(upload, [], 'a', 100_000), what: 'an upload that is cut off' }] : []),
  ]
}

/** A long value by its beginning and length. */
function short(value: string): string {
  return value.length <= 40 ? value : `${value.slice(0, 12).trim()}… (${value.length} bytes)`
}
