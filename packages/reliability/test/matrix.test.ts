import { describe, test } from 'node:test'
import { APPS } from '@startgrid/grid/apps.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { AppSubject } from '../src/app.ts'
import { FAULTS, tryApp } from '../src/matrix.ts'

/** Every fault on an ssr app, which has the most to lose, each on that of another framework. `pnpm reliability` tries all apps. */

const nginx = await findNginx()
const skip = nginx.kind === 'none' && nginx.describe()
const pages = APPS.filter(({ role }) => role === 'ssr')

describe('the matrix', { skip, timeout: 1_800_000 }, () => {
  for (const [index, fault] of FAULTS.entries()) {
    const able = pages.filter((app) => fault.absent?.(app) === undefined)
    const app = able[index % able.length]
    const full = fault.name === 'keep' ? 'full: ' : '' // memory is not for a busy machine
    test(`${full}${fault.name} ${app?.name}`, { timeout: 300_000 }, async ({ signal }) => {
      if (app === undefined || nginx.kind === 'none') throw new Error('There is no app, or no NGINX.')
      const { findings } = await tryApp(fault, new AppSubject({ app, nginx, signal }))
      if (findings.length > 0) throw new Error(findings.join('\n'))
    })
  }
})
