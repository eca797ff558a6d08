import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { whyOf } from '../../src/judge/why.ts'
import { describeWhy, whySection } from '../../src/report/why.ts'
import type { Finding } from '../../src/result/figures.ts'
import type { Why } from '../../src/result/profile.ts'
import { type Costs, profilesOf, SERVER } from '../fixtures/profiles.ts'

/** Which functions are named of planted changes. */

const FINDING: Finding = {
  race: 'GET /',
  decides: 'rate',
  taken: 0,
  over: 'after',
  under: 'before',
  isTwin: false,
  starts: 10,
  ratio: null,
  verdict: 'differs',
  whole: null,
  needed: null,
  others: [],
}

/** @param cpu what the race found: microseconds per request before, and the ratio with an interval of a twentieth around it */
function explain(before: Costs, after: Costs, seed = 1, cpu?: { micros: number; ratio: number }): Why {
  const { micros = 0, ratio = 1 } = cpu ?? {}
  const figures = { cpu: { value: micros * 1e-6 } }
  const cells = [{ race: 'GET /', system: 'before', figures }] as unknown as Parameters<typeof whyOf>[1]
  const found = { value: ratio, low: 0.95 * ratio, high: 1.05 * ratio }
  const finding = cpu === undefined ? FINDING : { ...FINDING, decides: 'cpu' as const, ratio: found }
  const why = whyOf(finding, cells, profilesOf(before, after, seed))
  ok(why !== undefined)
  return why
}

/** The server with other costs. */
const having = (more: Costs): Costs => ({ ...SERVER, ...more })

/** The server, with names changed. */
function renamed(from: string, to: string, costs: Costs = SERVER): Costs {
  return Object.fromEntries(Object.entries(costs).map(([words, cost]) => [words.replace(from, to), cost]))
}

const NAMED: [what: string, before: Costs, after: Costs, sentence: RegExp][] = [
  [
    'a function, and what it calls',
    SERVER,
    having({ 'readCookies src/cookies.js': 2.2, 'readCookies src/cookies.js > split': 1.1 }),
    /^[23]\.\d µs \(\d\.\d–\d\.\d\) more per request are in readCookies \(src\/cookies\.js\); next: split, called by it, \d\.\d \(0\.\d–\d\.\d\)$/,
  ],
  [
    'a builtin',
    SERVER,
    having({ 'route server.js > setPrototypeOf': 6 }),
    /^\d\.\d µs \(.*\) more per request are in setPrototypeOf, called by route \(server\.js\)$/,
  ],
  [
    'what Node does for a function',
    having({ 'route server.js > setHeader node:_http_outgoing': 4 }),
    SERVER,
    /^[23]\.\d µs \(.*\) less per request are in setHeader, called by route \(server\.js\)$/,
  ],
  [
    'a function of a file that was moved',
    SERVER,
    renamed('src/cookies.js', 'src/lib/cookies.js', having({ 'readCookies src/cookies.js': 3 })),
    /^[23]\.\d µs \(.*\) more per request are in readCookies \(src\/lib\/cookies\.js\)$/,
  ],
  [
    'a function of an entry with another name',
    renamed('server.js', 'before.js'),
    renamed('server.js', 'after.js', having({ 'route server.js': 7 })),
    /^\d\.\d µs \(.*\) more per request are in route \(after\.js\)$/,
  ],
  [
    'a package in which no function holds most of it',
    SERVER,
    having({
      'parse node_modules/qs/lib/parse.js': 3.2,
      'stringify node_modules/qs/lib/stringify.js': 3,
      'decode node_modules/qs/lib/utils.js': 1.6,
    }),
    /^[4-6]\.\d µs \(.*\) more per request are in qs \(\w+ [12]\.\d; \w+ [12]\.\d; \w+ [12]\.\d\)$/,
  ],
  [
    'a function without a name by its line and its caller, and another of its file',
    SERVER,
    having({ 'listItems src/items.js > (anonymous) src/items.js': 4, 'sortItems src/items.js': 3 }),
    /are in \(anonymous\), called by listItems \(src\/items\.js:1\); next: sortItems \(src\/items\.js\), 1\.\d \(.*\)$/,
  ],
  [
    'a package, where most of what one function gains another one loses',
    having({ 'send node_modules/fastify/reply.js > end node:_http_outgoing': 30 }),
    having({ 'onSend node_modules/fastify/reply.js > end node:_http_outgoing': 28 }),
    /^[12]\.\d µs \(.*\) less per request are in fastify \(end, called by send −\d+\.\d; end, called by onSend \+\d+\.\d\)$/,
  ],
  [
    'nothing, where gains and losses in a package cancel',
    SERVER,
    having({
      'parse node_modules/qs/lib/parse.js': 0.3,
      'decode node_modules/qs/lib/utils.js': 1.5,
    }),
    /^No function is shown/,
  ],
]

for (const [what, before, after, sentence] of NAMED)
  test(`named is ${what}`, () => {
    const said = describeWhy(explain(before, after))
    ok(sentence.test(said), said)
  })

test('of twenty servers with themselves at most one gets a name', () => {
  const causes = Array.from({ length: 20 }, (_, seed) => explain(SERVER, SERVER, seed + 1).cause)
  ok(causes.filter(Boolean).length <= 1, JSON.stringify(causes))
})

test('a start that was slow as a whole is no difference, and rows add up', () => {
  const { rows, cause } = explain(SERVER, SERVER)
  equal(cause, null)
  const costs = (['before', 'after'] as const).map((side) => rows.reduce((sum, one) => sum + one[side], 0))
  const micros = Object.values(SERVER).reduce((sum, one) => sum + one, 0) + 1
  // Starts take half to three times as long.
  for (const cost of costs) ok(cost > micros * 1e-6 && cost < 1.5 * micros * 1e-6, `${cost}`)
  const [slower] = explain(SERVER, having({ 'listItems src/items.js': 9 })).rows
  const { value = 0, low, high } = slower?.difference ?? {}
  ok((high ?? 0) - (low ?? 0) < 0.2 * value, `${low}–${high}`)
  const names = rows.slice(-4).map(({ name }) => name)
  deepEqual(names, [
    '(garbage collector)',
    'Node itself',
    'all other functions',
    'other threads, no function',
  ])
})

test('the difference is that of the race, and bytes have their function', () => {
  const why = explain(SERVER, having({ 'listItems src/items.js': 9 }), 1, { micros: 50, ratio: 1.2 })
  ok(describeWhy(why).endsWith('. The difference is 10.0 µs (7.0–13.0) in all'), describeWhy(why))
  equal(why.allocated?.most?.name, 'listItems')
  const { rows } = explain(SERVER, SERVER, 1, { micros: 500, ratio: 1 })
  const cost = rows.reduce((sum, { before }) => sum + before, 0)
  ok(cost > 475e-6 && cost < 525e-6, `${cost}`)
})

test('what became dearer comes first, unless the race shows that the whole became cheaper', () => {
  const after = having({ 'listItems src/items.js': 5, 'route server.js': 0.5 })
  const said = (ratio: number) => describeWhy(explain(SERVER, after, 1, { micros: 50, ratio }))
  match(said(1.06), /more per request are in listItems \(.*; next: route .* less\. The difference is 3\.0 µs/)
  match(
    said(1),
    /more per request are in listItems .*\. The race itself shows no difference in all: \+0\.0 µs \(−2\.5 to \+2\.5\)$/,
  )
  const { table } = whySection(explain(SERVER, after), [])
  match(JSON.stringify(table), /"−\d\.\d \(−\d\.\d to −\d\.\d\)"/) // the route
  match(said(0.9), /less per request are in route \(.*; next: listItems .* more\. The difference is 5\.0 µs/)
})

test('where nearly all functions changed, the ratio of the race counts instead of their median', () => {
  const slow = Object.fromEntries(Object.entries(SERVER).map(([words, cost]) => [words, 4 * cost]))
  const after = { ...SERVER, 'listItems src/items.js': 12 }
  equal(describeWhy(explain(slow, after)).includes('more per request are in listItems'), true)
  const said = describeWhy(explain(slow, after, 1, { micros: 0, ratio: 0.4 }))
  ok(/ less per request are in /.test(said) && !said.includes('listItems'), said)
})

test('where most functions have other names, the few that have not do not decide what is equal', () => {
  const faster = Object.fromEntries(Object.entries(SERVER).map(([words, cost]) => [words, 0.9 * cost]))
  const before = having({ 'M node_modules/react-dom/index.js': 40 })
  const after = { ...faster, 'renderElement node_modules/react-dom/index.js': 46 }
  const total = (costs: Costs) => Object.values(costs).reduce((sum, one) => sum + one, 0)
  const cpu = { micros: total(before), ratio: total(after) / total(before) }
  match(
    describeWhy(explain(before, after, 1, cpu)),
    /^[56]\.\d µs \(.*\) more per request are in react-dom \(renderElement /,
  )
})

test('where most of the difference is in no function, who changes prototypes is suspected', () => {
  const changer = 'handle node_modules/express/lib/application.js'
  const cpu = { micros: 200, ratio: 0.3 }
  const before = having({ [changer]: 1, [`${changer} > setPrototypeOf`]: 9 })
  const said = describeWhy(explain(before, SERVER, 1, cpu))
  match(
    said,
    /, most of it elsewhere\. setPrototypeOf, called by handle \(express\/.*\), takes \d+\.\d \(.*\), and /,
  )
  equal(explain(having({ [changer]: 9 }), SERVER, 1, cpu).suspect, null)
})

test('too few pairs name nothing', () => {
  equal(whyOf(FINDING, [], profilesOf(SERVER, SERVER).slice(0, 7)), undefined)
})

test('what another than the named file calls has the name of its caller', () => {
  const part = {
    name: '',
    file: 'src/etag.js',
    before: 0,
    after: 5e-6,
    isShown: true,
    difference: { value: 5e-6, low: 4e-6, high: 6e-6 },
  }
  const next = { ...part, name: 'setHeader, called by send', file: 'src/send.js' }
  const why = { cause: { part, of: [] }, suspect: null, difference: null, next } as unknown as Why
  match(describeWhy(why), /are in src\/etag\.js; next: setHeader, called by send \(src\/send\.js\), 5\.0/)
})
