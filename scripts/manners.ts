import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  checkConformance,
  formatManners,
  formatReport,
  type Manners,
  mergeManners,
} from '@startgrid/conformance'
import { APPS, type App, FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { startLineup } from '@startgrid/grid/lineup.ts'

const DOCUMENT = fileURLToPath(new URL('../docs/manners.md', import.meta.url))

/**
 * Starts every app without NGINX in front, runs the suite on it, and writes docs/manners.md from what it showed. A page that would leave
 * something out is not written.
 * @returns the exit code: 0 written, 1 an app does not conform, 2 an app could not be started
 */
export async function writeManners(): Promise<number> {
  const document = new Map<string, Manners>()
  for (const framework of FRAMEWORKS) {
    const manners: Manners[] = []
    for (const app of APPS.filter((one) => one.framework === framework)) {
      const shown = await recordManners(app)
      if (typeof shown === 'number') return shown
      manners.push(shown)
    }
    document.set(framework, mergeManners(manners))
  }
  writeFileSync(DOCUMENT, formatManners(document))
  process.stdout.write(`${DOCUMENT} is written.\n`)
  return 0
}

async function recordManners(app: App): Promise<Manners | number> {
  const lineup = await startLineup({ apps: [app], topologies: ['direct'], nginx: undefined })
  try {
    const target = lineup.target(app, 'direct')
    if (target === undefined)
      return refuse(2, lineup.failures.get(app.name) ?? `${app.name} was not started.`)
    const { role, absent, runtime } = app
    const report = await checkConformance({ target, role, absent, proxied: runtime === 'nginx' })
    if (report.differences.length > 0)
      return refuse(1, `${app.name} does not conform.\n\n${formatReport(report)}`)
    process.stdout.write(`${app.name.padEnd(16)} ${Object.keys(report.manners).length} manners\n`)
    return report.manners
  } finally {
    await lineup.stop()
  }
}

function refuse(code: number, sentence: string): number {
  process.stderr.write(`${sentence}\n`)
  return code
}
