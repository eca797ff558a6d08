import { readdirSync, readFileSync } from 'node:fs'
import * as page from '@startgrid/shared/page/server.js'
import { assetType } from '../../src/contract/route.ts'
import type { Role } from '../../src/contract/subject.ts'
import { headerValues } from '../../src/http/header.ts'
import type { Behaviour, Coding } from './behaviour.ts'
import type { Incoming, Outgoing } from './message.ts'

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  403: 'Forbidden',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  500: 'Internal Server Error',
  501: 'Not Implemented',
}

/** The three apps of the contract in their shortest form. */
export function respond(role: Role, behaviour: Behaviour, request: Incoming): Outgoing {
  const id = behaviour.requestId(headerValues(request.headers, 'x-request-id'))
  const response = secure(responseTo(role, behaviour, request, id), id)
  return behaviour.proxy(behaviour.finish(response, request), request)
}

function responseTo(role: Role, behaviour: Behaviour, request: Incoming, id: string): Outgoing {
  const refusal = behaviour.refuse(request)
  if (refusal !== undefined) return problem(refusal)
  const handler = findHandler(role, behaviour, request, id)
  if (handler === undefined) return problem(404)
  if (request.method === 'OPTIONS')
    return withHeader(responseOf(204, Buffer.alloc(0)), 'allow', 'GET, HEAD, OPTIONS')
  if (!['GET', 'HEAD'].includes(request.method))
    return withHeader(problem(405), 'allow', 'GET, HEAD, OPTIONS')
  return handler()
}

type Handler = () => Outgoing

function findHandler(role: Role, behaviour: Behaviour, request: Incoming, id: string): Handler | undefined {
  const path = behaviour.path(request.target)
  if (path === '/livez' || path === '/readyz') return health
  if (role === 'status')
    return path === '/_/status' ? () => text('text/plain; charset=utf-8', 'OK') : undefined
  return role === 'hello' ? helloHandler(behaviour, path) : ssrHandler(behaviour, request, path, id)
}

function helloHandler(behaviour: Behaviour, path: string): Handler | undefined {
  if (path === '/') return () => text('text/plain; charset=utf-8', 'Hello World!')
  if (path === '/json') return () => text('application/json; charset=utf-8', '{"hello":"world"}')
  const [, name] = /^\/hello\/([^/]+)$/.exec(path) ?? []
  return name === undefined
    ? undefined
    : () => text('text/plain; charset=utf-8', `Hello, ${behaviour.decode(name)}!`)
}

function ssrHandler(behaviour: Behaviour, request: Incoming, path: string, id: string): Handler | undefined {
  if (path === '/') return () => documentResponse(behaviour, request, id)
  if (path === '/stream') return () => streamResponse(behaviour, request, id)
  return /^\/assets\/./.test(path)
    ? () => assetResponse(behaviour, request, path.slice('/assets/'.length))
    : undefined
}

function health(): Outgoing {
  return withHeader(text('application/health+json', '{"status":"pass"}'), 'cache-control', 'no-store')
}

function documentResponse(behaviour: Behaviour, { target }: Incoming, requestId: string): Outgoing {
  const items = behaviour.count(parameters(target, 'items'), 50, 1000)
  if (items === undefined) return problem(400, 'items')
  const nonce = behaviour.nonce()
  return html(behaviour.html(page.renderPage('shop', { items, requestId, nonce }), nonce), nonce)
}

function streamResponse(behaviour: Behaviour, request: Incoming, requestId: string): Outgoing {
  const items = behaviour.count(parameters(request.target, 'items'), 50, 1000)
  const delay = behaviour.count(parameters(request.target, 'delay'), 50, 5000)
  if (items === undefined || delay === undefined) return problem(400, items === undefined ? 'items' : 'delay')
  const nonce = behaviour.nonce()
  const document = behaviour.html(page.renderPage('shop', { items, requestId, nonce }), nonce)
  const [shell, ...late] = behaviour.parts(document, nonce)
  const whole = html(delay === 0 ? document : shell, nonce)
  const headers = whole.headers.filter(([name]) => name !== 'content-length')
  const parts = delay === 0 ? [] : late.map((part) => Buffer.from(part))
  return { ...whole, headers, late: { ms: behaviour.wait(delay), parts } }
}

/** The files of the page, without their compressed siblings. */
const FILES = new Set(readdirSync(page.ASSETS_DIR).filter((name) => !/\.(?:br|gz)$/.test(name)))

function assetResponse(behaviour: Behaviour, { headers }: Incoming, sent: string): Outgoing {
  const name = behaviour.asset(sent) ?? ''
  // Only a defect leads to a name that is not listed.
  if (!FILES.has(name) && name === sent) return problem(404)
  const accepted = headerValues(headers, 'accept-encoding').join(',')
  const coding = behaviour.negotiate(accepted === '' ? undefined : accepted)
  const body = readAsset(name, coding)
  if (body === undefined) return problem(404)
  const whole = text(assetType(name), body)
  const kept: Outgoing['headers'] = [
    ['etag', '"any"'],
    ['vary', 'Accept-Encoding'],
    ['cache-control', 'public, max-age=31536000, immutable'],
  ]
  const encoded: Outgoing['headers'] = coding === undefined ? [] : [['content-encoding', coding]]
  return { ...whole, headers: [...whole.headers, ...kept, ...encoded] }
}

function readAsset(name: string, coding: Coding): Buffer | undefined {
  const extension = coding === undefined ? '' : coding === 'br' ? '.br' : '.gz'
  try {
    return readFileSync(new URL(name + extension, page.ASSETS_DIR))
  } catch {
    return undefined
  }
}

function parameters(target: string, name: string): string[] {
  return new URLSearchParams(target.split('?').slice(1).join('?')).getAll(name)
}

function secure({ status, headers, body, late }: Outgoing, id: string): Outgoing {
  const policy: Outgoing['headers'] = headers.some(([name]) => name === 'content-security-policy')
    ? []
    : [['content-security-policy', "default-src 'none'; frame-ancestors 'none'"]]
  const common: Outgoing['headers'] = [
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['referrer-policy', 'no-referrer'],
    ['x-content-type-options', 'nosniff'],
    ['x-request-id', id],
  ]
  return { status, headers: [...headers, ...policy, ...common], body, ...(late ? { late } : {}) }
}

function html(document: string, nonce: string): Outgoing {
  const policy =
    `default-src 'none'; script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'self'; img-src 'self' data:; ` +
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
  const page = withHeader(text('text/html; charset=utf-8', document), 'content-security-policy', policy)
  return withHeader(page, 'cache-control', 'private, no-store')
}

function problem(status: number, field?: string): Outgoing {
  return { ...text('application/problem+json', problemText(status, { field })), status }
}

/** @param detail by default a 4xx has one, as in frameworks that expose the messages of their errors */
export function problemText(
  status: number,
  {
    field,
    detail = status < 500 ? 'as asked' : undefined,
  }: { field?: string | undefined; detail?: unknown } = {},
): string {
  const errors = field === undefined ? undefined : [{ field, reason: 'must be a plain decimal in range' }]
  return JSON.stringify({ type: 'about:blank', title: TITLES[status], status, detail, errors })
}

function text(type: string, content: string | Buffer): Outgoing {
  const body = Buffer.from(content)
  const whole = withHeader(responseOf(200, body), 'content-type', type)
  return withHeader(whole, 'content-length', String(body.length))
}

function responseOf(status: number, body: Buffer): Outgoing {
  return { status, headers: [], body }
}

function withHeader(outgoing: Outgoing, name: string, value: string): Outgoing {
  return { ...outgoing, headers: [...outgoing.headers, [name, value]] }
}
