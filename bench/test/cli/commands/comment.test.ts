import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { analysed, golden } from '../../fixtures/golden.ts'

/** action/comment.sh as a runner takes it. A fake `gh` answers for GitHub. */

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const HEAD = 'a'.repeat(40)

/** One pull request, number 7, and the comments that it gets. */
const GH = `#!/usr/bin/env node
const { existsSync, writeFileSync, appendFileSync } = require('node:fs')
const words = process.argv.slice(2).join(' ')
appendFileSync(process.env.GH_LOG, words.split('\\n')[0] + '\\n')
const comment = process.env.GH_LOG + '.comment'
if (words.includes('/pulls ')) process.stdout.write(words.includes('${HEAD}') ? '7\\n' : '')
else if (words.includes('--paginate')) process.stdout.write(existsSync(comment) ? '99\\n' : '')
else writeFileSync(comment, process.argv.find((word) => word.startsWith('body=')).slice(5))
`

const directory = mkdtempSync(join(tmpdir(), 'comment-'))
after(() => rmSync(directory, { recursive: true }))
writeFileSync(join(directory, 'gh'), GH, { mode: 0o755 })
const log = join(directory, 'gh.log')
const race = analysed(golden('commands'))

function comment(result: object) {
  const file = join(directory, 'result.json')
  writeFileSync(file, JSON.stringify(result))
  return promisify(execFile)('bash', [`${ROOT}action/comment.sh`, file], {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: [directory, dirname(process.execPath), process.env.PATH].join(delimiter),
      STARTGRID: 'node bench/src/cli/startgrid.ts',
      GITHUB_REPOSITORY: 'acme/server',
      GH_LOG: log,
      HEAD_OWNER: 'somebody',
      HEAD_BRANCH: 'a $(branch)',
      HEAD_SHA: HEAD,
    },
  })
}

test('a result becomes a comment of the pull request, and the next one updates it', async () => {
  await comment(race)
  assert.match(readFileSync(`${log}.comment`, 'utf8'), /^<!-- race -->\n\*\*.+\*\*: /)
  await comment(race)
  const asked = readFileSync(log, 'utf8')
  assert.match(asked, /-f head=somebody:a \$\(branch\)/)
  assert.equal(asked.match(/repos\/acme\/server\/issues\/7\/comments -f body/g)?.length, 1)
  assert.equal(asked.match(/--method PATCH repos\/acme\/server\/issues\/comments\/99 /g)?.length, 1)
})

test('a file that is no result becomes no comment', async () => {
  rmSync(`${log}.comment`, { force: true })
  await assert.rejects(comment({ ...race, analysis: '@everyone' }), { code: 1 })
  assert.ok(!existsSync(`${log}.comment`))
})
