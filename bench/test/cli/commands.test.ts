import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findNginx } from '@startgrid/nginx/find.ts'
import { whyRunFailed } from '../../src/cli/measure.ts'
import type { Result } from '../../src/result/result.ts'
import { readResult } from '../../src/result/result-file.ts'
import { assertNothingLeft, SHORT, start } from '../fixtures/bench-run.ts'
import { analysed, golden } from '../fixtures/golden.ts'

/** What only a process shows of commands but `race`. */

const nginx = await findNginx()

test('a short run: tables, result and reports, the same as JSON, and nothing left running', async () => {
  const words = ['--only', 'node,njs', '--role', 'status', ...SHORT, '--json', 'r.json', '--seed', '7']
  const { place, ended } = start(words)
  const { code, stdout, stderr } = await ended
  const result = readResult(join(place, 'out/result.json'))
  assert.equal(code, whyRunFailed(result).length === 0 ? 0 : 1, stderr)
  assert.deepEqual(readResult(join(place, 'r.json')), result)
  assert.ok(result.finishedAt !== null && result.finishedAt > result.startedAt)
  const twin = 'node/status#2'
  const launches = ['node/status', 'njs/status', twin]
  const cells = launches.flatMap((app) => [`${app} direct`, `${app} nginx`])
  assert.equal(result.cells.map(({ id }) => id).join(), cells.join())
  for (const { app, twinOf } of result.cells) assert.equal(twinOf, app === twin ? 'node/status' : null)
  for (const { failures } of result.heats) assert.deepEqual(failures, [])
  assert.ok((result.analysis?.cells[0]?.figures.rate?.value ?? 0) > 0)
  const tried = result.cells.filter(({ skipped }) => skipped === null)
  assert.equal(result.conformance.length, tried.length)
  assert.ok(result.conformance.every(({ differences }) => differences.length === 0))
  assert.match(stdout, /GET \/_\/status/)
  assert.match(stdout, /seed 7/)
  assert.match(stderr, /^status, heat 1 of 1, \d:\d\d left$/m)
  assert.match(readFileSync(join(place, 'out/report.md'), 'utf8'), /node/)
  assert.match(readFileSync(join(place, 'out/report.html'), 'utf8'), /^<!doctype html>/i)
  assertNothingLeft(place)
  if (nginx.kind !== 'none') assertMeasuredBehindNginx(result)
})

function assertMeasuredBehindNginx({ heats, cells }: Result): void {
  const node = heats[0]?.slices.findLast(({ cell }) => cell === 'node/status nginx')
  assert.deepEqual(node?.errors, {})
  if (process.platform === 'linux') {
    assert.ok((node?.cpuSeconds.proxy ?? 0) > 0)
    assert.ok((heats[0]?.launches.find(({ app }) => app === 'nginx')?.peakMemory ?? 0) > 0)
  }
  for (const njs of cells.filter(({ title }) => title === 'njs')) {
    if (nginx.kind !== 'none' && nginx.njs === undefined) assert.notEqual(njs.skipped, null)
    else assert.match(njs.engine ?? '', /^(qjs|njs) in NGINX \d/)
  }
}

test('--help prints the options, and loads no library that only a run needs; a reader that closes the pipe is no failure', async () => {
  const hook = `import { registerHooks } from 'node:module'
registerHooks({
  load(url, context, next) {
    if (/\\/node_modules\\/(?:marked|selfsigned)\\/.*js$/.test(url)) process.stderr.write(url)
    return next(url, context)
  },
})`
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` }
  const { code, stdout, stderr } = await start(['--help'], { env }).ended
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /--quick/)
  const unread = start(['--help'])
  unread.child.stdout.destroy()
  assert.equal((await unread.ended).code, 0)
})

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** What action/race.sh tells of a repository, whose base moved on since the pull request was opened. */
test('the action races a pull request against what it is merged into', async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'action-'))
  t.after(() => rmSync(place, { recursive: true }))
  writeFileSync(join(place, 'npx'), '#!/bin/sh\nprintf "%s\\n" "$@" > "$WORDS"\n', { mode: 0o755 })
  const run = async (file: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    const env = {
      ...process.env,
      PATH: [place, process.env.PATH].join(delimiter),
      WORDS: join(place, 'words'),
      ...more,
    }
    return (await promisify(execFile)(file, args, { cwd: place, env })).stdout.trim()
  }
  const git = (words: string) =>
    run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words.split(' ')])
  const commit = async (name: string) => {
    await git(`commit --quiet --allow-empty -m ${name}`)
    return git('rev-parse HEAD')
  }
  await git('init --quiet --initial-branch=main')
  const old = await commit('old')
  await git('checkout --quiet -b topic')
  const head = await commit('head')
  await git('checkout --quiet main')
  const moved = await commit('moved')
  const raced = async (env: NodeJS.ProcessEnv) => {
    await run('bash', [`${ROOT}action/race.sh`], env)
    const words = readFileSync(join(place, 'words'), 'utf8').split('\n')
    return { base: words[words.indexOf('--git') + 1], words: words.join(' ') }
  }
  await git('merge --quiet --no-ff -m merged topic')
  const event = { RACE_EVENT_BASE: old, RACE_EVENT_HEAD: head }
  assert.equal((await raced(event)).base, moved)
  assert.equal((await raced({ ...event, RACE_BASE: old })).base, moved, 'as README said before')
  assert.equal((await raced({ ...event, RACE_BASE: head })).base, head, 'another one was meant')
  const asks = {
    RACE_HEADERS: 'accept: a\nx: 1',
    RACE_BODY: '{"query":"{ a }"}',
    RACE_METHOD: 'POST',
    RACE_CORES: '2',
  }
  const { words } = await raced({ ...event, ...asks, RACE_READY_PATH: '/ready' })
  assert.match(
    words,
    /--method POST --body {"query":"{ a }"} --ready-path \/ready --cores 2 --header accept: a --header x: 1 /,
  )
  await git('checkout --quiet topic')
  assert.equal((await raced(event)).base, old, 'the branch itself, without a merge')
  await git('merge --quiet --no-ff -m own main')
  assert.equal((await raced({ ...event, RACE_EVENT_BASE: moved })).base, moved, 'a merge of its own')
})

/** action/comment.sh as a runner takes it. A fake `gh` answers for GitHub. */

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

test('the action makes a result a comment of the pull request, and updates it; of what is no result it makes none', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'comment-'))
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'gh'), GH, { mode: 0o755 })
  const [file, log] = [join(directory, 'result.json'), join(directory, 'gh.log')]
  const env = {
    ...process.env,
    STARTGRID: 'node bench/src/cli/startgrid.ts',
    GITHUB_REPOSITORY: 'acme/server',
    GH_LOG: log,
    HEAD_OWNER: 'somebody',
    HEAD_BRANCH: 'a $(branch)',
    HEAD_SHA: HEAD,
    PATH: [directory, dirname(process.execPath), process.env.PATH].join(delimiter),
  }
  const comment = (result: object) => {
    writeFileSync(file, JSON.stringify(result))
    return promisify(execFile)('bash', [`${ROOT}action/comment.sh`, file], { cwd: ROOT, env })
  }
  const race = analysed(golden('commands'))
  await assert.rejects(comment({ ...race, analysis: '@everyone' }), { code: 1 })
  assert.ok(!existsSync(`${log}.comment`))
  await comment(race)
  assert.match(readFileSync(`${log}.comment`, 'utf8'), /^<!-- race -->\n\*\*after handles 35 %/)
  await comment(race)
  const asked = readFileSync(log, 'utf8')
  assert.match(asked, /-f head=somebody:a \$\(branch\)/)
  assert.equal(asked.match(/repos\/acme\/server\/issues\/7\/comments -f body/g)?.length, 1)
  assert.equal(asked.match(/--method PATCH repos\/acme\/server\/issues\/comments\/99 /g)?.length, 1)
})
