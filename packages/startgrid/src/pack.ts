import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readVersions } from '@startgrid/machine/provenance.ts'
import { buildProgram } from './program.ts'

/** Writes dist/: the command, and the programs that it starts. npm runs this before it packs. */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const PACKAGE = join(ROOT, 'packages/startgrid')
const DIST = join(PACKAGE, 'dist')

rmSync(DIST, { recursive: true, force: true })
const { version, engines } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
  version: string
  engines: { node: string }
}
await buildProgram(
  {
    main: `${ROOT}bench/src/cli/startgrid.ts`,
    'guard-process': `${ROOT}packages/machine/src/guard-process.ts`,
    child: `${ROOT}packages/loadgen/src/child.ts`,
  },
  { directory: DIST, target: engines.node.replace('>=', 'node') },
)
// What an older Node cannot even read is imported only then.
const least = engines.node.replace('>=', '')
writeFileSync(
  join(DIST, 'startgrid.js'),
  `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
const [leastMajor, leastMinor] = '${least}'.split('.').map(Number)
if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) import('./main.js')
else {
  console.error('startgrid itself needs Node ${least} or later, and this is ' + process.version + '. The servers that it starts may have any: name theirs, such as /path/to/node server.js.')
  process.exitCode = 1
}
`,
)
// Reports hold them; they are read from beside the code.
for (const file of globSync(`${ROOT}bench/src/report/html/*.css`))
  copyFileSync(file, join(DIST, basename(file)))
// Servers load it, with a Node of their own.
copyFileSync(`${ROOT}bench/src/servers/command/profiler-preload.cjs`, join(DIST, 'profiler-preload.cjs'))
const versions = readVersions()
writeFileSync(
  join(DIST, 'versions.json'),
  JSON.stringify({ ...versions, startgrid: `${version} (${versions.startgrid})`, packages: {} }),
)
