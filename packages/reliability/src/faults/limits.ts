import type { Answer } from '@startgrid/conformance/http/answer.ts'
import { Connection } from '@startgrid/conformance/http/connection.ts'
import type { Request } from '@startgrid/conformance/http/request.ts'
import { NoAnswer } from '@startgrid/conformance/http/source.ts'
import { type Launch, NEVER_SHED, type Target } from '@startgrid/grid/launcher.ts'
import { BODY_LIMIT, HEADER_LIMIT } from '@startgrid/shared/http/contract.ts'
import { LIGHT } from '../clients/clients.ts'
import type { Fault } from '../fault.ts'
import { footprintOf, measurable } from '../subject/footprint.ts'
import type { Subject } from '../subject/subject.ts'

/** Rounds of all cases before memory is looked at first, and until it is looked at again. */
const ROUNDS = { short: { warm: 40, flat: 80 }, full: { warm: 200, flat: 1_000 } } as const

/** MB that an app may hold more at the end: less than one round sends, and what a collector leaves behind at its leisure. */
const MOST_GROWTH_MB = 6

/** A status, or how the connection ended without one. */
type Given = Answer['status'] | NoAnswer['failure']

interface Case {
  readonly what: string
  readonly request: Request
  /** Right answers; `closed` where a server may close while it is still being sent to. */
  readonly right: readonly Given[]
}

/** Requests that are too large in every way. */
function casesOf(path: string): Case[] {
  const body = Buffer.alloc(4 * BODY_LIMIT, 'a')
  const chunked = [['transfer-encoding', 'chunked']] as const
  return [
    {
      what: 'a body over the limit',
      request: { method: 'POST', target: path, body },
      right: [413, 'closed'],
    },
    {
      what: 'a body of a terabyte, announced',
      request: { method: 'POST', target: path, headers: [['content-length', '1000000000000']], body: 'a' },
      right: [413],
    },
    {
      what: 'a chunked body over the limit, which nothing reads',
      request: { method: 'POST', target: path, headers: chunked, body: chunksOf(body) },
      right: [405, 413, 'closed'],
    },
    {
      what: 'a header over the limit',
      request: { target: path, headers: [['x-large', 'a'.repeat(4 * HEADER_LIMIT)]] },
      right: [431, 'closed'],
    },
    {
      what: '10,000 query parameters, over the limit of the header',
      request: { target: `${path}?${'a=1&'.repeat(10_000)}` },
      right: [414, 431, 'closed'],
    },
    {
      what: '7,500 query parameters, below it',
      request: { target: `${path}?${'a&'.repeat(7_500)}` },
      right: [200, 400],
    },
  ]
}

/** As one chunk of 16 KiB after the other. */
function chunksOf(body: Buffer): Buffer {
  const size = 16_384
  const chunk = Buffer.concat([
    Buffer.from(`${size.toString(16)}\r\n`),
    body.subarray(0, size),
    Buffer.from('\r\n'),
  ])
  const chunks = Array.from({ length: body.length / size }, () => chunk)
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}

/** More than the contract allows: refused with the right status, and nothing of it stays. */
export const limits: Fault = {
  name: 'limits',
  title: 'body over the limit, header over the limit, 10,000 query parameters',
  expected: '413, 431, 200 or 400; memory flat, directly and behind NGINX',
  atOnce: 4,
  async run(subject) {
    const { app, size } = subject
    const { warm, flat } = ROUNDS[size]
    const launched = await subject.launch({ env: NEVER_SHED, ...measurable(app) })
    const places = [{ where: 'directly', target: launched.target }, ...(await behindNginx(subject, launched))]
    const cases = casesOf(LIGHT[app.role])
    const found = new Set<string>()
    const runRounds = async (count: number) => {
      for (let round = 0; round < count; round++)
        for (const { where, target } of places)
          for (const one of cases) for (const finding of await judge(one, target, where)) found.add(finding)
    }
    await runRounds(warm)
    const before = await footprintOf(app, launched)
    await runRounds(flat)
    const after = await footprintOf(app, launched)
    const grownMb = Number(((after.memory - before.memory) / 2 ** 20).toFixed(1))
    const requests = flat * cases.length * places.length
    if (grownMb > MOST_GROWTH_MB)
      found.add(`It held ${grownMb} MB more after ${requests} requests over the limits.`)
    const left = (after.files ?? 0) - (before.files ?? 0)
    if (left > cases.length)
      found.add(`${left} more files and connections are open after ${requests} requests.`)
    return { findings: [...found], figures: { requests, 'grown MB': grownMb } }
  },
}

async function behindNginx(
  subject: Subject,
  { target }: Launch,
): Promise<{ where: string; target: Target }[]> {
  if (subject.app.framework === 'njs' || subject.nginx === undefined || !('port' in target)) return []
  const listen = { host: '127.0.0.1', port: 0 }
  const { addresses } = await subject.front([{ name: 'app', topology: 'nginx', listen, upstream: target }])
  return addresses.map((address) => ({ where: 'behind NGINX', target: address }))
}

/** @returns what is wrong with the answer, and with a small request after it */
async function judge({ what, request, right }: Case, target: Target, where: string): Promise<string[]> {
  const given = await ask(target, request)
  const findings = right.includes(given) ? [] : [`${what}, ${where}: ${given}, not ${right.join(' or ')}.`]
  const next = await ask(target, { target: '/livez' })
  return next === 200 ? findings : [...findings, `After ${what}, ${where}, /livez is ${next}.`]
}

async function ask(target: Target, request: Request): Promise<Given> {
  let connection: Connection | undefined
  try {
    connection = await Connection.open(target, { timeoutMs: 10_000 })
    return (await connection.exchange(request)).status
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    // What is unread when a server closes resets the connection (RFC 9112 section 9.6).
    return error.failure === 'reset' ? 'closed' : error.failure
  } finally {
    connection?.destroy()
  }
}
