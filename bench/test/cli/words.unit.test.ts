import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { BENCH } from '../../src/cli/main.ts'
import { readOptions } from '../../src/cli/options.ts'
import { helpOfCommand } from '../../src/cli/program.ts'
import { readRaceOptions } from '../../src/cli/race-options.ts'
import { namesOf, withoutValues } from '../../src/experiment/command-line.ts'
import { chooseRaces } from '../../src/experiment/profiles.ts'
import { createRace } from '../../src/experiment/race.ts'
import { createStudyResult } from '../../src/experiment/result.ts'
import { plannedMs } from '../../src/experiment/time.ts'
import { writeResult } from '../../src/result/result-file.ts'
import { PUBLISHED, STUDIES } from '../../studies/index.ts'
import { newPlace, runHere } from '../fixtures/bench-run.ts'
import { golden } from '../fixtures/golden.ts'

/** What words on the command line and in documents mean. Nothing is started. */

test('options are read', () => {
  const line =
    '--quick --heats 5 --connections 128 --seed 12 --topology nginx,direct,nginx --json - --output there --dry-run --latency --max-time 10m'
  assert.partialDeepStrictEqual(readOptions(line.split(' ')), {
    topologies: ['nginx', 'direct'],
    profile: 'quick',
    heats: 5,
    latency: true,
    connections: 128,
    maxTimeMs: 600_000,
    dryRun: true,
    json: '-',
    output: 'there',
    seed: 12,
  })
  assert.notEqual(readOptions([]).seed, readOptions([]).seed)
})

const CHOSEN: [words: string, apps: string][] = [
  ['--only=fastify, koa/ssr', 'fastify/hello fastify/ssr fastify/status koa/ssr'],
  ['--only=ssr', FRAMEWORKS.map((name) => `${name}/ssr`).join(' ')],
  ['--only=node,bun --role=hello', 'node/hello bun/hello'],
  ['--only=node,node/ssr --role=ssr,hello', 'node/hello node/ssr'],
  ['--quick', 'node/hello node/ssr fastify/hello fastify/ssr express/hello express/ssr'],
  ['--quick --only=bun/hello', 'bun/hello'],
  ['--quick --only=bun --role=status', 'bun/status'],
]

test('frameworks, apps and roles choose apps, each once', () => {
  for (const [words, apps] of CHOSEN) {
    const names = readOptions(words.split(/ (?=--)/)).apps.map(({ name }) => name)
    assert.equal(names.join(' '), apps)
  }
})

const TWO = ['--git', 'a', '--git', 'b']
const REFUSED: [words: string[], sentence: RegExp, code?: number][] = [
  [['compar'], /^There is no command 'compar', only race, study, /],
  [['--resume'], /^pnpm bench --resume is gone: /],
  [['fastify'], /^There is no command 'fastify'/],
  [['--only', 'fastfy'], /^There is no app 'fastfy'.*node, fastify, express, .*hello, ssr, status/],
  [['--only', ''], /^There is no app ''/],
  [['--role', 'sssr'], /sssr.*hello, ssr, status/],
  [['--topology', 'proxy'], /proxy.*direct, nginx, nginx-tls/],
  [['--only', 'node/ssr', '--role', 'hello'], /^No app is both in --only node\/ssr and in --role hello\.$/],
  [['--heats', '0'], /^--heats is '0', but must be a whole number from 1 to 100\.$/],
  [['--max-time', '1s'], /^--max-time 1s is too short for two heats of every role, /],
  [['--max-time', '10'], /^--max-time is '10', but must be a time from /],
  [['--seed', '4294967296'], /^--seed is '4294967296', but must be a whole number from 0 to 4294967295\.$/],
  [['study', 'cluster', '--heats', '1'], /^--heats is '1', but must be a whole number from 2 to 100\.$/],
  [['race', '--heats', '1', 'node a.js'], /^--heats is '1', but must be a whole number from 2 to 100\.$/],
  [['--output', join(import.meta.filename, 'out')], /^Nothing can be written to .+ \(ENOTDIR.*\): choose /],
  [['study'], /^Name a study, or give --all\./],
  [['study', 'nothing'], /^There is no study 'nothing', only nginx-proxy, cluster, /],
  [['study', '--all', '--json', 'x.json'], /^--json takes the result of one study: name it\.$/],
  [['study', '--resume'], /^pnpm bench study --resume is gone: /],
  [['study', '--fast'], /^Unknown option '--fast'\. pnpm bench study --help lists the options\.$/],
  [['report'], /takes one result, not 0\. pnpm bench report --help shows how\.$/],
  [['report', 'empty'], /cannot be read \(ENOENT\): give the result\.json of a run\.$/, 1],
  [['race'], /^Name what to race/],
  [['race', 'node before.js', ' '], /^A command is empty/],
  [['race', '--max-time', '10s', 'node a.js', 'b'], /^--max-time 10s is too short for 5 starts of each/],
  [['race', '--max-time', 'a', 'b'], /^--max-time is 'a', but must be a time from /],
  [['race', 'a', 'b', '--max-time'], /^Option '--max-time <value>' argument missing\. /],
  [['race', '--within', '0%', 'a', 'b'], /^--within is '0%', but must be a percentage above 0 %/],
  [['race', '--precision', '1%', 'a', 'b'], /^pnpm bench race --precision is gone: --within 1% /],
  [['race', '--fail-on-regression=3%', 'a'], /^pnpm bench race --fail-on-regression is gone: --within 3% /],
  [['race', 'http://me:s3cret@127.0.0.1:80'], /^'http:\/\/127\.0\.0\.1' must not hold a name and a password/],
  [['race', 'http://8.8.8.8:80'], /^8\.8\.8\.8 is a public address: load only servers of/],
  [['race', '--why', 'http://127.0.0.1:1', 'node b.js'], /^--why profiles what it starts: name commands/],
  [['race', '--why', 'node a.js'], /^--why compares two systems, not 1\.$/],
  [['race', '--why', 'node a.js', 'node b.js', 'node c.js'], /^--why compares two systems, not 3\.$/],
  [['race', '--path', 'x', 'node before.js'], /^--path is 'x'/],
  [['race', '-H', 'x', 'node before.js'], /^--header needs a name/],
  [['race', '--method', 'FETCH', 'node before.js'], /^"FETCH" is not an HTTP method\.$/],
  [['race', '--body', '@none', 'node before.js'], /^--body names none, which cannot be read \(ENOENT\)\.$/],
  [['race', '--git', 'main', 'node before.js'], /^--git and commands exclude each other: /],
  [['race', '--git', 'main', '--bisect'], /^--bisect searches between two commits: --git GOOD --git BAD /],
  [['race', ...TWO, '--bisect', '--path', '/a', '--path', '/b'], /^--bisect searches with one path/],
  [['race', ...TWO, '--bisect', '--max-time', '1m'], /^--bisect races .* --max-time 3m at least/],
  [['race', '--name', 'C=x', 'node a.js', 'node b.js'], /^--name is 'C=x', but must be a system's letter /],
]

for (const [words, sentence, expected = 2] of REFUSED)
  test(`refused with one sentence: ${words.join(' ')}`, async () => {
    const { code, stdout, stderr } = await runHere(...words)
    assert.deepEqual([stdout, code], ['', expected], stderr)
    assert.match(stderr.slice(0, -1), sentence)
    assert.equal(stderr.indexOf('\n'), stderr.length - 1)
  })

test('a race asks with the words of load: POST with a body, bytes of a file, and both of two headers', () => {
  const file = join(newPlace(), 'body')
  writeFileSync(file, Buffer.from([0, 255, 10]))
  const words = ['-H', 'Accept: a', '--header', 'Accept: b', '--body', `@${file}`, '--path', '2:/a']
  const { requests } = readRaceOptions([...words, 'node a.js', 'node b.js'], 'pnpm bench race')
  const [{ body, ...asked } = { body: '' }] = requests
  assert.deepEqual(Buffer.from(body ?? ''), Buffer.from([0, 255, 10]))
  assert.deepEqual(asked, { path: '/a', weight: 2, method: 'POST', headers: { Accept: ['a', 'b'] } })
})

for (const [one, other, names] of [
  ['node before.js', 'node after.js', 'before | after'],
  ['node server.js', 'bun server.ts', 'A | B'],
  ['node s.js', 'node --jitless s.js', 'A | B'],
  ['/opt/node22/bin/node s.js', '/opt/node24/bin/node s.js', 'A | B'],
  ['cd old && npm start', 'cd new && npm start', 'A | B'],
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3001', '127.0.0.1:3000 | 127.0.0.1:3001'],
  ['uvicorn old:app --port {port}', 'npx -y serve -l {port}', 'old:app | serve'],
  ['python3 -m http.server {port}', 'python3 -m http.server {port}', 'http.server | http.server (again)'],
  ['TOKEN=s3cret node hi.mjs', 'node hi.mjs', 'A | B'],
  ['TOKEN=s3cret node hi.mjs', 'TOKEN=other node hi.mjs', 'A | B'],
  ['gunicorn -w 2 -b [::]:{port} app:app', 'gunicorn -w 4 -b [::]:{port} app:app', 'A | B'],
  ['sh -c "exec node a.js"', 'sh -c "exec node b.js"', 'A | B'],
] as const)
  test(`${one} and ${other} are called ${names}`, () =>
    assert.equal(namesOf([one, other]).join(' | '), names))

for (const [line, told] of [
  [`A=s3cret B='s3 cret' node c.js; D="s3 cret" run`, 'A=… B=… node c.js ; D=… run'],
  ['env TOKEN=s3cret node --env-file=s3cret c.js', 'env TOKEN=… node --env-file=… c.js'],
  ['npx -y serve -ps3cret -p s3cret s3cret', 'npx -y serve -p… -p … …'],
  ['npx https://me:s3cret@host/?key=s3cret', 'npx …'],
  ['A=`printf s3cret` B=$(cat s3cret) node c.js', 'A=… ` printf … ` B=… ( cat … ) node c.js'],
  ['echo s3cret | node c.js > s3cret', 'echo … | node c.js > …'],
  ['node c.js <<END\ns3cret\nEND', 'node c.js'],
  ['java -Dkey=s3cret -jar c.jar', 'java -D… -j… c.jar'],
  ['cd /home/s3cret/app && ~/s3cret/node ./src/c.js', 'cd …/app && …/node ./src/c.js'],
  ['node -e "s3cret" --header "x: s3cret"', 'node -e … --header …'],
] as const)
  test(`what is told of a command has no value: ${told}`, () => {
    assert.equal(withoutValues(line), told)
    assert.doesNotMatch(namesOf([line, 'node d.js']).join(' '), /s3/)
  })

test('paths that differ in hidden values stay two races', () => {
  const systems = [{ name: 'a' }, { name: 'b' }]
  const requests = [{ path: '/?key=s3cret' }, { path: '/?key=other' }, { path: '/?items=50&key=x' }]
  const { races } = createRace({ systems, requests, connections: 1 })
  assert.deepEqual(Object.keys(races), ['GET /?key=…', 'GET /?key=… (2)', 'GET /?items=50&key=…'])
})

test('--dry-run says systems, starts, time and what to expect, and measures nothing', async () => {
  const place = join(newPlace(), 'out')
  for (const [words, ...texts] of [
    [[], /^\d+ cells: 3 starts of every system, about /, /^ {2}hello: node; .*; node#2$/m, /about 10 %/],
    [['study', 'njs-vs-node', '--quick'], /^njs-vs-node: 3 starts of every system, about \d+:\d\d \(/],
  ] as const) {
    const { code, stdout } = await runHere(...words, '--dry-run', '--output', place)
    assert.equal(code, 0)
    for (const text of texts) assert.match(stdout, text)
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line)
    assert.ok(!existsSync(place))
  }
})

test('study --list shows every claim with its published ratio, within 80 columns', async () => {
  const { code, stdout } = await runHere('study', '--list')
  assert.equal(code, 0)
  assert.match(stdout, /^cluster: one Express against four of them$/m)
  assert.match(stdout, /^ {3}0\.74 {2}Driven by one generator worker, NGINX alone is 0\.74 times/m)
  const claims = STUDIES.flatMap((study) => study.claims)
  assert.equal(stdout.match(/^ +\d+\.\d+ {2}/gm)?.length, claims.length)
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line)
})

test('report makes the reports of a result again, beside it or elsewhere, and leaves it as it was', async () => {
  const place = newPlace()
  const [run, there] = [join(place, 'run'), join(place, 'there/deep')]
  const file = join(run, 'nginx-proxy.json')
  // As a crash leaves it.
  writeResult(file, { ...golden('study'), finishedAt: null })
  const stored = readFileSync(file, 'utf8')
  for (const [directory, ...words] of [
    [there, file, '--output', there],
    [run, run],
  ] as const) {
    const { code, stdout, stderr } = await runHere('report', ...words)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^nginx-proxy, 5 claims: 2 direction holds/)
    const reports = readdirSync(directory).filter((name) => name !== 'nginx-proxy.json')
    assert.deepEqual(reports.toSorted(), ['nginx-proxy.html', 'nginx-proxy.md'])
    const markdown = readFileSync(join(directory, 'nginx-proxy.md'), 'utf8')
    assert.match(markdown, /^# nginx-proxy, 5 claims: /)
    assert.match(markdown, /^> - Interrupted: not everything/m)
    if (directory !== run) assert.deepEqual(readdirSync(run), ['nginx-proxy.json'])
  }
  assert.equal(readFileSync(file, 'utf8'), stored)
})

test('report judges a race again that was stored before races had verdicts', async () => {
  const place = newPlace()
  const old = golden('commands')
  for (const finding of old.analysis?.findings ?? [])
    Object.assign(finding, { verdict: undefined, whole: undefined, needed: undefined })
  writeResult(join(place, 'result.json'), old)
  const { code, stdout, stderr } = await runHere('report', place)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^after handles 35 % \(24–44 %\) fewer /)
})

const { name: program, commands, help: screen } = BENCH
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const PAGES = globSync(['*.md', 'docs/**/*.md', '{apps,bench,packages,nginx,scripts,action}/**/*.md'], {
  cwd: ROOT,
  exclude: ['**/node_modules', 'bench/results'],
}).map((page) => ({ page, content: readFileSync(`${ROOT}${page}`, 'utf8') }))

/** What pages name, with the parts that the expression finds. */
function namedInPages(expression: RegExp) {
  const named = PAGES.flatMap(({ page, content }) =>
    [...content.matchAll(expression)].map(([text, command = '', name]) => ({ page, text, command, name })),
  )
  assert.ok(named.length > 20)
  return named
}

/** Of pnpm itself, and of the package in whose directory one is. */
const OTHER_SCRIPTS = ['install', 'exec', 'start']

test('every script that a page names is there', () => {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
  for (const { page, text, command } of namedInPages(/(?:`|^)(?:npx )?pnpm(?:@12)? ([a-z][a-z:-]*)/gm))
    assert.ok(command in scripts || OTHER_SCRIPTS.includes(command), `${page}: ${text}`)
})

test('every command and every study that a page names is there', () => {
  const studies = STUDIES.map(({ name }) => name)
  const named = namedInPages(/pnpm(?:@12)? bench ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g)
  for (const { page, text, command, name } of named) {
    assert.ok(command in commands, `${page}: ${text}`)
    if (command === 'study' && name !== undefined) assert.ok(studies.includes(name), `${page}: ${text}`)
  }
})

test('the help is one screen of 24 lines, that of each command one of 40, of 80 columns', () => {
  assert.ok(screen.trimEnd().split('\n').length < 24, 'the prompt is the last line')
  for (const help of [screen, ...Object.values(commands).map((one) => helpOfCommand(program, one))]) {
    const lines = help.trimEnd().split('\n')
    assert.ok(lines.length < 40, help)
    for (const line of lines) assert.ok(line.length <= 80, line)
  }
})

test('all studies of sources together take less than 45 minutes with --quick, and leave time for what is measured again', () => {
  const total = PUBLISHED.reduce((sum, study) => {
    const one = chooseRaces(study, false)
    return sum + plannedMs(createStudyResult(one, { profile: 'quick', seed: 1 }, ''))
  }, 0)
  assert.ok(total < 45 * 60_000, `${Math.round(total / 60_000)} minutes`)
})
