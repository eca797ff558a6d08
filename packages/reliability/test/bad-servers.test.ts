import { match, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { APPS, BASELINE, type Role } from '@startgrid/grid/apps.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { AppSubject } from '../src/app.ts'
import { OF_APPS } from '../src/faults/apps.ts'
import { tryFault } from '../src/subject.ts'

/** What each fault finds in a server that has a defect (bad/src/server.ts). */

const nginx = await findNginx()
const skip = nginx.kind === 'none' && nginx.describe()
const directory = `${import.meta.dirname}/bad`

/** @param role whose paths the server is asked for @param findings what all that was found matches */
function finds(name: string, defect: string, role: Role, findings: readonly RegExp[]): void {
  const full = name === 'keep' ? 'full: ' : '' // four minutes, and memory is not for a busy machine
  test(`${full}${name} finds the defect ${defect} (${role})`, { timeout: 300_000 }, async ({ signal }) => {
    const app = APPS.find((one) => one.framework === BASELINE && one.role === role)
    const fault = OF_APPS.find((one) => one.name === name)
    ok(fault && app && nginx.kind !== 'none')
    const standIn = { name: `bad/${defect}`, runtime: 'node', role: defect, directory } as const
    const seen = await tryFault(fault, new AppSubject(app, nginx, signal, standIn))
    const found = seen.map(({ row, kind, text }) => (kind === 'ok' ? '' : `${row}: ${text}`)).join('\n')
    for (const finding of findings) match(found, finding)
  })
}

// Those that wait for a minute begin first. The others load a server: the more of them at once, the longer each takes.
describe('bad servers', { skip, concurrency: 2, timeout: 1_800_000 }, () => {
  finds('time-limits', 'waits-forever', 'hello', [
    /30 connections that send half a request are open after 45 s\./,
    /30 connections that send half a body are open after 90 s\./,
  ])
  finds('abort', 'keeps-files', 'hello', [
    /^abort: (?:3\d|40) files or sockets stay open after 40 requests of \/json that were left before/m,
  ])
  finds('silent-handler', 'fails-badly', 'hello', [
    /\(GET \/hangs\): nothing has ended the response\./,
    /\(GET \/hangs\): the log does not tell the cause: \{"level":50,/,
    /^(?![\s\S]*\/stalls)/, // does that well
  ])
  finds('uncaught', 'carries-on', 'hello', [
    /After an uncaught exception it ends with nothing: it goes on, not with 1\./,
    /After an unhandled rejection it ends with nothing: it goes on, not with 1\./,
    /It cannot be started again: /,
  ])
  finds('stop', 'resets-at-sigterm', 'hello', [
    /^kept: \d+ of \d+ requests on kept connections .+ were cut off or refused at SIGTERM/m,
  ])
  finds('drain', 'resets-at-sigterm', 'hello', [
    /^drain newcomers: \d+ of \d+ new connections in 3 s after SIGTERM got no response$/m,
  ])
  finds('stop', 'refuses-while-draining', 'hello', [
    /^kept: \d+ of \d+ requests on kept connections .+ were cut off or refused at SIGTERM/m,
  ])
  finds('restart', 'refuses-while-draining', 'hello', [
    /^start again: \d+ of \d+ GETs through NGINX .+ in turn: GET \/json: 503$/m,
  ])
  finds('stop', 'resets-at-sigterm', 'ssr', [
    /^stop: 5 of 5 requests of \/stream\?delay=800 that were under way at SIGTERM got no response$/m,
  ])
  finds('uncaught', 'ends-at-once', 'ssr', [
    /After an uncaught exception a response under way is cut\./,
    /After an unhandled rejection a response under way is cut\./,
    /lines tell of an uncaught exception, not one of level 60/,
    /^(?![\s\S]*ends with)/, // does that well
  ])
  finds('failing-handler', 'fails-badly', 'hello', [
    /throws \(GET \/throws\): the client sees the error: Error: secret/,
    /rejects \(GET \/rejects\): 0 lines of the log have the id, not one\./,
    /\(GET \/breaks\): the client got 200 as if the response was whole\./,
    /\(GET \/breaks\/as\/a\/stream\): 2 lines of the log have the id, not one\./,
  ])
  finds('failing-handler', 'dies-of-a-handler', 'hello', [
    /\(GET \/throws\): then \/livez gives no response \((?:refused|reset)\)/,
    /The process has ended with 1\./,
  ])
  finds('keep', 'keeps-a-little', 'hello', [/^memory: [3-5]\.\d KB \(\d\.\d–\d\.\d\) per request/m])
  finds('odd', 'decodes-anything', 'hello', [
    /^odd: GET \/json with %(?:25)? in its query: it ended with 1$/m,
  ])
  finds('odd', 'trims-slowly', 'hello', [
    /^odd: x-forwarded-host: x… \(15002 bytes\): \/livez (?:waits for|does not respond)/m,
  ])
  finds('late', 'promises-too-much', 'hello', [/^keep-alive: closed after \d\.\d\d s, and promised 4 s/m])
  finds('crowd', 'dies-of-many', 'hello', [
    /^crowd: after 300 clients at a time asked for \/json: it ended with 7$/m,
  ])
  finds('slow', 'serves-few', 'hello', [
    /^slow senders: \/livez gets no response .+ beside 30 connections that send nothing$/m,
  ])
  finds('overload', 'never-sheds', 'ssr', [/No page was refused with 503\./])
  finds('overload', 'sheds-badly', 'ssr', [/\/livez got 503\./, /The 503 does not say retry-after\./])
  finds('refused-start', 'takes-any-port', 'hello', [
    /^refused-start: With a port that is taken it starts\.$/m,
    /^refused-start: With PORT=99999 it starts\.$/m,
    /^refused-start: As role 'nobody' it starts\.$/m,
  ])
  finds('refused-start', 'throws-at-start', 'hello', [
    /^refused-start: With PORT=99999 it does not end with one sentence and 1: .+\n[\s\S]+^\s+at /m,
  ])
})
