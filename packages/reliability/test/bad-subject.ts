import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDue } from '@startgrid/cli/test-run.ts'
import { APPS, type App, BASELINE } from '@startgrid/grid/apps.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import type { Fault } from '../src/fault.ts'
import { tryFault } from '../src/run.ts'
import { Subject } from '../src/subject/subject.ts'

/** Known-bad servers (bad/src), which a fault must find. */

const directory = fileURLToPath(new URL('./bad', import.meta.url))

/** What a fault finds in a server with this defect, as one text. @param role whose paths it is asked for; default hello */
export async function findingsOf(fault: Fault, defect: string, role: App['role'] = 'hello'): Promise<string> {
  const app = APPS.find((one) => one.framework === BASELINE && one.role === role)
  if (app === undefined) throw new Error(`There is no node/${role}.`)
  const found = await findNginx()
  const subject = new Subject({
    app,
    size: 'short',
    nginx: found.kind === 'none' ? undefined : found,
    signal: AbortSignal.timeout(300_000),
    standIn: { name: `bad/${defect}`, runtime: 'node', role: defect, directory },
  })
  const { findings } = await tryFault(fault, subject)
  return findings.join('\n')
}

/** A test that starts a known-bad server. A full run has all of them, a short one a third. */
export function testDefect(name: string, body: () => Promise<void>): void {
  if (isDue(name, 3)) test(name, body)
}
