import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APPS } from '@startgrid/grid/apps.ts'
import type { Clients } from '../src/clients/clients.ts'
import type { Fault } from '../src/fault.ts'
import { tryFault } from '../src/run.ts'
import { Subject } from '../src/subject/subject.ts'

/** Tries something on an app that is never started. @returns what is said of it */
async function trial(parts: Partial<Fault>, readDropped = () => 0) {
  const [app] = APPS
  if (app === undefined) throw new Error('There is no app.')
  const fault: Fault = { name: 'f', title: '', expected: '', run: async () => ({ findings: [] }), ...parts }
  const { signal } = new AbortController()
  const { state, findings } = await tryFault(
    fault,
    new Subject({ app, size: 'short', seed: 1, nginx: undefined, signal }),
    readDropped,
  )
  return { state, findings }
}

test('nothing found: passed; something: failed; a fault that throws: failed', async () => {
  assert.deepEqual(await trial({}), { state: 'passed', findings: [] })
  const found = { run: async () => ({ findings: ['It fell.'] }) }
  assert.deepEqual(await trial(found), { state: 'failed', findings: ['It fell.'] })
  const broken = { run: () => Promise.reject(new Error('No such thing.')) }
  assert.deepEqual(await trial(broken), { state: 'failed', findings: ['No such thing.'] })
})

test('what cannot be tried is absent, and not tried', async () => {
  const absent = { absent: () => 'It has none.', run: () => Promise.reject(new Error('tried')) }
  assert.deepEqual(await trial(absent), { state: 'absent', findings: ['It has none.'] })
})

test('what the machine cannot tell is undecided, unless something was found all the same', async () => {
  const undecided = 'Others used the machine.'
  assert.deepEqual(await trial({ run: async () => ({ findings: [], undecided }) }), {
    state: 'undecided',
    findings: [undecided],
  })
  assert.deepEqual(await trial({ run: async () => ({ findings: ['It fell.'], undecided }) }), {
    state: 'failed',
    findings: ['It fell.'],
  })
})

test('what was found while the kernel dropped packets is undecided, and told; what was not is passed', async () => {
  let dropped = 5
  const readDropped = () => dropped
  const drops = (findings: readonly string[]) => ({
    run: async () => {
      dropped += 7
      return { findings }
    },
  })
  const { state, findings } = await trial(drops(['No response.']), readDropped)
  assert.equal(state, 'undecided')
  assert.match(findings[0] ?? '', /^The kernel dropped 7 packets, .+ Seen then:$/)
  assert.deepEqual(findings.slice(1), ['No response.'])
  assert.deepEqual(await trial(drops([]), readDropped), { state: 'passed', findings: [] })
  const calm = { run: async () => ({ findings: ['No response.'] }) }
  assert.deepEqual(await trial(calm, readDropped), { state: 'failed', findings: ['No response.'] })
})

test('clients end with their fault, also when it throws', { timeout: 120_000 }, async () => {
  let clients: Clients | undefined
  await trial({
    run: async (subject) => {
      clients = subject.clients({ target: { host: '127.0.0.1', port: 1 }, path: '/', kept: 2 })
      throw new Error('No such thing.')
    },
  })
  assert.equal((await clients?.ended)?.responded, 0)
})
