import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SECURITY_HEADERS } from '@startgrid/conformance'
import { APPS } from '../src/apps.ts'
import { launch } from '../src/launcher.ts'
import { whyNot } from './started-apps.ts'

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

test('full: all apps send the headers of the contract, and which send more', async (t) => {
  for (const app of APPS) {
    const responses = RESPONSES.filter(({ role }) => role === app.role)
    if (responses.length === 0 || (app.runtime === 'nginx' && whyNot('njs'))) continue
    const { ready, stop } = await launch(app)
    try {
      for (const { path, also } of responses) {
        const { headers } = await fetch(ready.address + path)
        const due = [...ALWAYS, ...also]
        const lacking = due.filter((name) => !headers.has(name))
        assert.deepEqual(lacking, [], `${app.name} ${path} lacks these`)
        const others = [...headers.keys()].filter((name) => ![...due, ...TRANSPORT].includes(name))
        if (others.length > 0) t.diagnostic(`${app.name} ${path} also sends ${others.join(', ')}`)
      }
    } finally {
      await stop()
    }
  }
})
