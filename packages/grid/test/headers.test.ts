import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SECURITY_HEADERS } from '@startgrid/conformance'
import { APPS } from '../src/apps.ts'
import { startApps, whyNot } from './started-apps.ts'

/** The race is fair if all send about the same headers: those of the contract, and what a framework adds by itself. */

const ALWAYS = [...Object.keys(SECURITY_HEADERS), 'content-security-policy', 'x-request-id', 'content-type']

/** A response of each kind, and what else it must have. */
const RESPONSES = [
  { role: 'hello', path: '/json', also: [] },
  { role: 'hello', path: '/no-such-path', also: [] },
  { role: 'hello', path: '/livez', also: ['cache-control'] },
  { role: 'ssr', path: '/', also: ['cache-control'] },
] as const

/** Of HTTP itself, with every response or by the choice of a server. */
const TRANSPORT = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'server']

test('all apps send the headers of the contract, and which send more', async (t) => {
  const apps = APPS.filter(
    ({ role, runtime }) => role !== 'status' && !(runtime === 'nginx' && whyNot('njs')),
  )
  const { targets, stop } = await startApps(apps, 'direct')
  t.after(stop)
  for (const { role, path, also } of RESPONSES) {
    for (const [index, app] of apps.entries()) {
      const target = targets[index]
      if (app.role !== role || target === undefined || 'socketPath' in target) continue
      const { headers } = await fetch(`http://${target.host}:${target.port}${path}`)
      const names = new Set(headers.keys())
      const due = [...ALWAYS, ...also]
      assert.deepEqual(
        due.filter((name) => !names.has(name)),
        [],
        `${app.name} ${path} lacks these`,
      )
      const others = [...names].filter((name) => ![...due, ...TRANSPORT].includes(name))
      if (others.length > 0) t.diagnostic(`${app.name} ${path} also sends ${others.join(', ')}`)
    }
  }
})
