import { doesNotMatch, match } from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDue } from '@startgrid/cli/test-run.ts'
import { APPS, type App, BASELINE } from '@startgrid/grid/apps.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import type { Fault } from '../src/fault.ts'
import { desync } from '../src/faults/desync.ts'
import { disconnects } from '../src/faults/disconnects.ts'
import { failingHandler } from '../src/faults/failing-handler.ts'
import { fileDescriptors } from '../src/faults/file-descriptors.ts'
import { fuzz } from '../src/faults/fuzz.ts'
import { limits } from '../src/faults/limits.ts'
import { nginxReload } from '../src/faults/nginx-reload.ts'
import { overload, runOnce } from '../src/faults/overload.ts'
import { pipelining } from '../src/faults/pipelining.ts'
import { refusedStart } from '../src/faults/refused-start.ts'
import { restart } from '../src/faults/restart.ts'
import { sigterm } from '../src/faults/sigterm.ts'
import { slowClients } from '../src/faults/slow-clients.ts'
import { soak } from '../src/faults/soak.ts'
import { uncaught } from '../src/faults/uncaught.ts'
import { tryFault } from '../src/run.ts'
import { Subject } from '../src/subject/subject.ts'

/** What each fault finds in a server that has a defect (bad/src/defects.ts). A full run tries all of them, a short one a third. */

interface BadServer {
  readonly fault: Fault
  readonly defect: string
  /** Whose paths it is asked for. */
  readonly role: App['role']
  readonly findings: readonly RegExp[]
  /** What it does right. */
  readonly not?: RegExp
}

/** A defect shows in the first attempt; a good app gets more. */
const overloadOnce: Fault = { ...overload, run: (subject) => runOnce(subject, 1) }

const BAD: readonly BadServer[] = [
  bad(desync, 'ignores-bodies', 'hello', [
    /The app read a request attack-\d+\.hidden that NGINX did not send, after .*Content-Length/,
  ]),
  bad(disconnects, 'forgets-to-stop', 'ssr', [
    /Memory grew by \d+ kB, more than 2000\./,
    /\d+ timers run on when all clients have left: rendering goes on\./,
    /Clients that left caused \d+ error lines, such as: \{"level":50,/,
  ]),
  bad(disconnects, 'keeps-files', 'hello', [/\d+ files or sockets stay open when all clients have left\./]),
  {
    ...bad(failingHandler, 'fails-badly', 'hello', [
      /throws \(GET \/throws\): the client sees the error: Error: secret/,
      /rejects \(GET \/rejects\): 0 lines of the log have the id, not one\./,
      /\(GET \/breaks\): the client got 200 as if the response was whole\./,
      /\(GET \/breaks\/as\/a\/stream\): 2 lines of the log have the id, not one\./,
      /\(GET \/hangs\): nothing has ended the response after 30000 ms\./,
      /\(GET \/hangs\): the log does not tell the cause: \{"level":50,/,
    ]),
    not: /\/stalls/,
  },
  bad(failingHandler, 'dies-of-a-handler', 'hello', [
    /After a handler that throws, \/livez gives undefined\./,
    /The process has ended with 1\./,
  ]),
  bad(fileDescriptors, 'spins-on-accept', 'hello', [
    /Without descriptors, requests on an open connection got the status 500\./,
  ]),
  bad(fuzz, 'parses-urls', 'hello', [
    /The process ended with 1: /,
    /Request \d+ of seed 1 ends it\. The shortest: ".{1,60}"\./,
  ]),
  bad(fuzz, 'decodes-paths', 'hello', [
    /Request \d+ of seed 1: 500 came back\. The shortest: "[^"]*%.{0,60}"\./,
    /Behind NGINX: Request/,
  ]),
  bad(limits, 'keeps-everything', 'hello', [
    /Directly, a body over the limit: 200, not 404 or 405 or 413 or closed\./,
    /Directly, a body of a terabyte, announced: 200, not 404 or 405 or 413\./,
    /Directly, a header over the limit: 200, not 431 or closed\./,
    /It held \d+(\.\d)? MB more after \d+ requests over the limits\./,
  ]),
  // On a busy machine, connections may fail as well.
  bad(nginxReload, 'fails-at-times', 'hello', [
    /^Requests failed during reloads: .*GET \/json: 500 \(\d+ times\)/m,
  ]),
  bad(overloadOnce, 'never-sheds', 'ssr', [/No page was refused with 503\./]),
  bad(overloadOnce, 'sheds-badly', 'ssr', [
    /\/livez failed \d+ times: 503\./,
    /The 503 has retry-after: '', not /,
    /The 503 has content-security-policy: '', not default-src 'none'/,
    /The 503 has the body 'sorry'\./,
  ]),
  // A process that collects garbage all the time may also be too slow to respond.
  bad(pipelining, 'waits-forever', 'ssr', [
    /It took \d+ MB for 2000 requests on one connection\.|The process ended with |gives no response afterwards/,
  ]),
  bad(refusedStart, 'takes-any-port', 'hello', [
    /^With a port that is taken it starts\.$/m,
    /^With PORT=99999 it starts\.$/m,
    /^As role 'nobody' it starts\.$/m,
  ]),
  bad(refusedStart, 'throws-at-start', 'hello', [
    /^With PORT=99999 it does not end with one sentence and 1: .+\n[\s\S]+^\s+at /m,
  ]),
  bad(refusedStart, 'takes-any-port', 'ssr', [
    /^Without the page's files it starts\.$/m,
    /^Without a build it starts\.$/m,
  ]),
  bad(restart, 'ends-by-signal', 'hello', [
    /^bad\/ends-by-signal ended with a signal; it should end with 0\./m,
  ]),
  bad(restart, 'refuses-while-draining', 'hello', [
    /^Requests failed while the apps were restarted in turn, or .*: GET \/json: 503 /m,
  ]),
  bad(sigterm, 'ends-by-signal', 'hello', [
    /^bad\/ends-by-signal ended with a signal; it should end with 0\./m,
  ]),
  bad(sigterm, 'resets-at-sigterm', 'hello', [
    /^\d+ of \d+ requests met a kept connection that was closed as idle while it drained\.$/m,
    /^Requests failed before readiness failed: GET \/json on a new connection: ECONN/m,
    /^Requests failed behind NGINX, before readiness failed: GET \/json: 502/m,
  ]),
  bad(sigterm, 'refuses-while-draining', 'hello', [
    /^Requests failed while it drained: GET \/json: 503 \(\d+ times\)/m,
  ]),
  bad(sigterm, 'ignores-second-signal', 'hello', [
    /^bad\/ignores-second-signal still runs 30 s after SIGTERM; it should end with 1\./m,
  ]),
  bad(slowClients, 'waits-forever', 'ssr', [
    /45 s after 45 clients came, 45 connections or files of theirs are open: headers at 1 byte\/s\./,
    /90 s after 45 clients came, 45 connections or files of theirs are open: body at 1 byte\/s\./,
    /90 s after 10 clients came, \d+ connections or files of theirs are open: reading at 1 byte\/s\./,
  ]),
  bad(soak, 'keeps-a-little', 'hello', [
    /Memory grew by \d+ kB from the second fifth of the time to the last, in \d+ requests; 3000 are allowed\./,
    /GET \/hello\/ got 200, not 404 \(\d+ times\)/,
  ]),
  {
    ...bad(uncaught, 'ends-at-once', 'ssr', [
      /After an uncaught exception a response under way is cut\./,
      /After an unhandled rejection a response under way is cut\./,
      /0 lines of level 60 tell of an uncaught exception, not one/,
    ]),
    not: /ends with/,
  },
  bad(uncaught, 'carries-on', 'hello', [
    /After an uncaught exception it ends with nothing: it goes on, not with 1\./,
    /After an unhandled rejection it ends with nothing: it goes on, not with 1\./,
    /It cannot be started again: /,
  ]),
]

const nginx = await findNginx()

for (const { fault, defect, role, findings, not } of BAD) {
  const name = `${fault.name} finds the defect ${defect} (${role})`
  if (!isDue(name, 3)) continue
  test(name, async () => {
    const app = APPS.find((one) => one.framework === BASELINE && one.role === role)
    if (app === undefined) throw new Error(`There is no node/${role}.`)
    const subject = new Subject({
      app,
      size: 'short',
      nginx: nginx.kind === 'none' ? undefined : nginx,
      signal: AbortSignal.timeout(300_000),
      standIn: {
        name: `bad/${defect}`,
        runtime: 'node',
        role: defect,
        directory: fileURLToPath(new URL('./bad', import.meta.url)),
      },
    })
    const found = (await tryFault(fault, subject)).findings.join('\n')
    for (const finding of findings) match(found, finding)
    if (not !== undefined) doesNotMatch(found, not)
  })
}

function bad(fault: Fault, defect: string, role: App['role'], findings: readonly RegExp[]): BadServer {
  return { fault, defect, role, findings }
}
