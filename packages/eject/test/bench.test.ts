import { equal, match, notEqual, ok } from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { isDue } from '@startgrid/cli/test-run.ts'
import { findApps } from '@startgrid/grid/apps.ts'
import { parse } from 'yaml'
import { bench } from '../src/options/bench.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'

/** What `--with bench` adds: its workflows, and their steps as a runner takes them. A fake `gh` answers for GitHub. */

const SHA = /^[0-9a-f]{40}$/
const SERVER = `require('node:http').createServer((_, response) => response.end('hello')).listen(process.env.PORT, process.env.HOST)\n`

interface Step {
  run?: string
  env?: Record<string, string>
}

/** One pull request, number 7, and the comments that it gets. */
const GH = `#!/usr/bin/env node
const { existsSync, readFileSync, writeFileSync, appendFileSync } = require('node:fs')
const words = process.argv.slice(2).join(' ')
appendFileSync(process.env.GH_LOG, words.split('\\n')[0] + '\\n')
const comment = process.env.GH_LOG + '.comment'
if (words.includes('/pulls ')) process.stdout.write(words.includes(process.env.HEAD_SHA) ? '7\\n' : '')
else if (words.includes('--paginate')) process.stdout.write(existsSync(comment) ? '99\\n' : '')
else writeFileSync(comment, process.argv.find((word) => word.startsWith('body=')).slice(5))
`

test('pages wait as long as a race takes; other apps refuse nothing', () => {
  const raceOf = (name: string) => {
    const [app] = findApps(name)
    ok(app !== undefined)
    const added = bench.describe(app, (path) =>
      readFileSync(join(import.meta.dirname, '../../..', path), 'utf8'),
    )
    return typeof added === 'string' ? '' : (added.files['bench/race.sh'] ?? '')
  }
  match(raceOf('node/ssr'), /^export MAX_QUEUE_WAIT_MS=60000$/m)
  match(raceOf('node/hello'), /^set -euo pipefail\n\ncode=0$/m)
})

if (isDue('long race', 4, { turn: 2 }))
  test('the steps of both workflows race two commits, and keep one comment', {
    timeout: 600_000,
  }, async (t) => {
    using directory = temporaryDirectory()
    const ejected = join(directory.path, 'ejected')
    const { code, stderr } = await runEject([
      'node/status',
      ejected,
      '--with',
      'bench',
      '--no-lockfile',
      '--no-git',
    ])
    equal(code, 0, stderr)
    const manifest = JSON.parse(readFileSync(join(ejected, 'package.json'), 'utf8'))
    const [tarball = ''] = /bench\/startgrid-[\d.]+\.tgz/.exec(manifest.scripts.bench) ?? []
    ok(statSync(join(ejected, tarball)).size > 1e5)
    const workflow = (name: string) => {
      const yaml = readFileSync(join(ejected, '.github/workflows', name), 'utf8')
      for (const [, used = ''] of yaml.matchAll(/uses: \S+@(\S+)/g)) match(used, SHA)
      return parse(yaml)
    }
    const [race, comment] = [workflow('race.yml'), workflow('race-comment.yml')]
    equal(race.permissions.contents, 'read')
    equal(Object.keys(comment.permissions).length, 0)

    // A repository without dependencies has the same files, so that nothing is downloaded.
    const path = join(directory.path, 'server')
    cpSync(join(ejected, 'bench'), join(path, 'bench'), { recursive: true })
    writeFileSync(
      join(path, 'package.json'),
      '{ "private": true, "scripts": { "start": "node server.js" } }\n',
    )
    writeFileSync(join(path, 'server.js'), SERVER)
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@b']
    const git = (...words: string[]) =>
      execFileSync('git', [...author, ...words], { cwd: path, encoding: 'utf8' }).trim()
    git('init', '--quiet')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'base')
    const base = git('rev-parse', 'HEAD')
    writeFileSync(join(path, 'server.js'), `// head\n${SERVER}`)
    git('commit', '--quiet', '--all', '--message', 'head')
    const bin = join(directory.path, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'gh'), GH)
    chmodSync(join(bin, 'gh'), 0o755)
    const log = join(directory.path, 'gh.log')
    const { INIT_CWD: _, NODE_TEST_CONTEXT: __, ...rest } = process.env
    const env = {
      ...rest,
      PATH: [bin, dirname(process.execPath), rest.PATH].join(delimiter),
      npm_config_offline: 'true',
      GITHUB_STEP_SUMMARY: join(directory.path, 'summary.md'),
      GITHUB_REPOSITORY: 'acme/server',
      GH_LOG: log,
      RACE_BASE: base,
      HEAD_OWNER: 'somebody',
      HEAD_BRANCH: 'a $(branch)',
      HEAD_SHA: git('rev-parse', 'HEAD'),
    }
    /** The one that runs a script. What GitHub fills in is in `env`. */
    const step = (job: { steps: Step[] }, more = '') => {
      const { run, env: own = {} } = job.steps.find((one) => one.run !== undefined) ?? {}
      const fixed = Object.entries(own).filter(([, value]) => !value.includes('${{'))
      return promisify(execFile)('bash', ['-c', `${run} ${more}`], {
        cwd: path,
        env: { ...env, ...Object.fromEntries(fixed) },
      })
    }

    await step(race.jobs.race, '--heats 2 --max-time 10s')
    match(readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8'), /no verdict on head and base/)
    const upload = race.jobs.race.steps.at(-1).with.path
    ok(existsSync(join(path, upload)))
    equal(git('status', '--porcelain'), '')
    equal(git('worktree', 'list').split('\n').length, 1)

    await step(comment.jobs.comment)
    const text = readFileSync(`${log}.comment`, 'utf8')
    // On a busy machine, one may not count.
    match(text, /^<!-- race -->\n\*\*\/\*\*: no verdict: only (?:2 starts each|\d of 2 starts counts?)\./)
    await step(comment.jobs.comment)
    const asked = readFileSync(log, 'utf8')
    match(asked, /-f head=somebody:a \$\(branch\)/)
    equal(asked.match(/repos\/acme\/server\/issues\/7\/comments -f body/g)?.length, 1)
    equal(asked.match(/--method PATCH repos\/acme\/server\/issues\/comments\/99 /g)?.length, 1)

    await t.test('a file that is no result becomes no comment', async () => {
      rmSync(`${log}.comment`)
      const result = JSON.parse(readFileSync(join(path, upload), 'utf8'))
      writeFileSync(join(path, upload), JSON.stringify({ ...result, more: '@everyone' }))
      const failed = await step(comment.jobs.comment).catch((error: { code: number }) => error)
      notEqual('code' in failed ? failed.code : 0, 0)
      ok(!existsSync(`${log}.comment`))
    })
  })
