import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { APPS } from '@startgrid/grid/apps.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { AppSubject } from '../src/app.ts'
import { OF_APPS } from '../src/faults/apps.ts'
import { tryFault } from '../src/subject.ts'

/** Every fault on an ssr app, which has the most to lose, each on that of another framework. `pnpm reliability` tries all apps. */

const nginx = await findNginx()
const skip = nginx.kind === 'none' && nginx.describe()
// A framework of Node: what njs and Bun cannot have is not tested there.
const pages = APPS.filter(({ role, runtime }) => role === 'ssr' && runtime === 'node')

describe('every fault on an app', { skip, timeout: 1_800_000 }, () => {
  for (const [index, fault] of OF_APPS.entries()) {
    const app = pages[index % pages.length]
    const full = fault.name === 'keep' ? 'full: ' : '' // memory is not for a busy machine
    test(`${full}${fault.name} ${app?.name}`, { timeout: 300_000 }, async ({ signal }) => {
      if (app === undefined || nginx.kind === 'none') throw new Error('There is no app, or no NGINX.')
      const findings = await tryFault(fault, new AppSubject(app, nginx, signal))
      const faults = findings.filter(({ kind }) => kind === 'fault')
      assert.deepEqual(faults, [])
    })
  }
})
