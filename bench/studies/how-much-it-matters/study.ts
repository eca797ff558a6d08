import { findFramework } from '@startgrid/grid/apps.ts'
import { CATALOGUE, type Framework } from '@startgrid/grid/frameworks.ts'
import { CONNECTIONS } from '../../src/experiment/profiles.ts'
import { pageOf, WORKLOADS } from '../../src/experiment/workloads.ts'
import type { Costs, LoadRace, Study, System } from '../../src/result/experiment.ts'

/** Items of a page. 50 is the page of the race; with 1,000, all that a framework does is small. */
const ITEMS = [0, 50, 1000] as const

const [BASE] = CATALOGUE
const base = BASE?.title ?? ''

/** Those that differ only in their code, because they run on the engine of the first. */
const same = CATALOGUE.filter(({ runtime }) => runtime === BASE?.runtime)
/** Another engine is another question. */
const others = CATALOGUE.filter(({ runtime }) => runtime !== BASE?.runtime)
/** njs interprets its page: 100 times the cost, which njs-vs-node is about. */
const pages = CATALOGUE.filter(({ runtime }) => runtime !== 'nginx')

const hello = ({ name }: Framework): string => `${name} hello`
const rendered = ({ name }: Framework, items: number): string => `${name} ${items}`

const SYSTEMS: Readonly<Record<string, System>> = Object.fromEntries([
  // Costs of cold programs differ by what is not compiled yet.
  ...CATALOGUE.map((framework) => [
    hello(framework),
    { title: framework.name, app: { package: `apps/${framework.name}`, role: 'hello' }, warmupMs: 2000 },
  ]),
  ...pages.flatMap((framework) =>
    ITEMS.map((items) => [
      rendered(framework, items),
      {
        title: `${framework.name}, ${items} items`,
        app: { package: `apps/${framework.name}`, role: 'ssr' },
        workload: pageOf(items),
      },
    ]),
  ),
])

const RACES: Readonly<Record<string, LoadRace>> = {
  hello: { systems: CATALOGUE.map(hello), workload: WORKLOADS.hello, connections: CONNECTIONS.hello },
  page: {
    systems: pages.flatMap((framework) => ITEMS.map((items) => rendered(framework, items))),
    workload: pageOf(50),
    connections: CONNECTIONS.ssr,
  },
}

const pairsOf = (frameworks: readonly Framework[]): Costs['pairs'] =>
  frameworks.filter((one) => one !== BASE).map(({ title }) => [title, base] as const)

/** The frameworks of the headline, the dearer one first: chosen before anything was measured, because the best and the worst are so by chance. */
const HEADLINE = ['koa', 'fastify'] as const
const [over, under] = HEADLINE.map((name) => findFramework(name).title)

const helloCosts = (title: string, frameworks: readonly Framework[]): Costs => ({
  title,
  race: 'hello',
  shown: 0,
  lines: Object.fromEntries(frameworks.map((framework) => [framework.title, { 0: hello(framework) }])),
  pairs: pairsOf(frameworks),
})

const pageCosts = (title: string, frameworks: readonly Framework[]): Costs => ({
  title,
  race: 'page',
  unit: 'item',
  shown: 50,
  lines: Object.fromEntries(
    frameworks.map((framework) => [
      framework.title,
      Object.fromEntries(ITEMS.map((items) => [items, rendered(framework, items)])),
    ]),
  ),
  pairs: pairsOf(frameworks),
})

const withHeadline = (costs: Costs): Costs => {
  const headline = [over ?? '', under ?? ''] as const
  return { ...costs, pairs: [...costs.pairs, headline], headline }
}

const besideBase = (frameworks: readonly Framework[]): Framework[] =>
  CATALOGUE.filter((one) => one === BASE || frameworks.includes(one))

/** See docs/studies/how-much-it-matters.md. */
export const howMuchItMatters: Study = {
  name: 'how-much-it-matters',
  title: 'what a framework costs in CPU time per request',
  question: 'How many microseconds does a request cost more on a framework, and when is that 1 %?',
  systems: SYSTEMS,
  races: RACES,
  claims: [],
  costs: [
    withHeadline(pageCosts('a page', same)),
    withHeadline(helloCosts('hello', same)),
    pageCosts('another engine, a page', besideBase(pages.filter((one) => others.includes(one)))),
    helloCosts('another engine, hello', besideBase(others)),
  ],
}
