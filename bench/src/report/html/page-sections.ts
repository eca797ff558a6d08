import { standingsOf } from '../../judge/standings.ts'
import { isRace, type OpenLoopResult, type RaceResult, type Result } from '../../model/result.ts'
import { sectionsOf } from '../sections.ts'
import { control } from './control.ts'
import { costCharts } from './cost-chart.ts'
import { gates } from './gates.ts'
import { glance } from './glance.ts'
import { guide } from './guide.ts'
import { html, type Markup } from './markup.ts'
import { openLoop } from './openloop.ts'
import { pairs } from './pairs.ts'
import { provenance } from './provenance.ts'
import { proxyCosts } from './proxy.ts'
import { raceBlock } from './race.ts'
import { target } from './target.ts'

export interface PageSection {
  id: string
  title: string
  body: Markup
}

/** What the page says below its summary, in order. */
export function pageSections(result: Result): PageSection[] {
  return [
    ...measured(result),
    { id: 'provenance', title: 'Where it comes from', body: provenance(result) },
    { id: 'guide', title: 'How to read it', body: guide(result) },
  ]
}

function measured(result: Result): PageSection[] {
  if (!isRace(result)) return openLoopSections(result)
  if (result.analysis === null) return []
  return result.mode === 'target' ? targetSections(result) : raceSections(result)
}

/** There is nobody to compare with, and nothing of what its machine alone could tell. */
function targetSections(result: RaceResult): PageSection[] {
  return [
    { id: 'figures', title: 'Figures', body: target(result) },
    { id: 'gates', title: 'Gates', body: gates(result) },
  ]
}

function openLoopSections(result: OpenLoopResult): PageSection[] {
  return (result.analysis ?? []).length === 0
    ? []
    : [{ id: 'figures', title: 'Figures', body: openLoop(result) }]
}

function raceSections(result: RaceResult): PageSection[] {
  const charts = glance(result)
  const cpuCharts = costCharts(result)
  const costs = result.analysis?.proxyCosts ?? []
  const hasPairs = result.analysis?.races.some((race) => race.pairs.length > 0) === true
  const sections: (PageSection | false)[] = [
    charts.length > 0 && {
      id: 'glance',
      title: 'At a glance',
      body: html`<p>Every app over the same baseline, with its 95 % interval; best first. Farther right is faster.</p><div class="panels">${charts}</div>`,
    },
    { id: 'races', title: 'Races', body: races(result) },
    costs.length > 0 && {
      id: 'proxy',
      title: 'What NGINX costs',
      body: html`<p>The same launch behind NGINX over direct: what is left of its rate${cpuCharts.length > 0 && ', and how much more CPU time a request takes'}.</p>${proxyCosts(result)}`,
    },
    cpuCharts.length > 0 && {
      id: 'cost',
      title: 'CPU per request',
      body: html`<p>Microseconds of CPU time that one request takes: the app in its colour, NGINX in front of it in grey <span class="swatch proxy"></span>.
 The figures of app and proxy stand at the bars, and in the tables of the races.</p><div class="panels">${cpuCharts}</div>`,
    },
    hasPairs && { id: 'pairs', title: 'Who beats whom', body: pairs(result) },
    { id: 'control', title: 'A/A control', body: control(result) },
    { id: 'gates', title: 'Gates', body: gates(result) },
  ]
  return sections.filter((section) => section !== false)
}

function races(result: RaceResult): Markup {
  const sections = sectionsOf(result)
  return html`${standingsOf(result).map((standing) => {
    const { role, topology } = standing
    const section = sections.find(({ race }) => race?.role === role && race.topology === topology)
    return section === undefined ? null : raceBlock(standing, section, result)
  })}`
}
