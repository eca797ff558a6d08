import { formatRatioInterval } from '@startgrid/cli/numbers.ts'
import { markdownTable } from '@startgrid/cli/table.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { describeExtraCosts, extraCostImage, readExtraCosts } from './extra-cost.ts'
import { type Machine, placeOf, readMachines } from './machines.ts'
import { countVerdicts, describeClaim, readStudies } from './studies.ts'

/** What `pnpm generate` writes into Markdown from stored results, so that no figure there differs from its file. */

export function firstPicture(): string {
  return extraCostImage(readExtraCosts())
}

/** The picture in words. */
export function extraCostPart(): string {
  return `\n${describeExtraCosts(readExtraCosts())
    .map((sentence) => `- ${sentence}`)
    .join('\n')}\n`
}

/** Two verdicts that say most, and all of them counted. */
export function claimsPart(): string {
  const records = readStudies()
  const examples = ['hello-njs-over-koa', 'fastify-express-status'].flatMap(
    (id) => describeClaim(records, id) ?? [],
  )
  return `\n- ${[...examples, `All ${countVerdicts(records)}`].join('.\n- ')}.\n`
}

/** A table for each machine: ratios of requests per second, and places as ranges. */
export function machinesPart(): string {
  return `\n${readMachines().map(machinePart).join('\n\n')}\n`
}

function machinePart(machine: Machine): string {
  const { title, name, result, standings } = machine
  const { versions, command, settings, machine: hardware } = result
  const converted = standings.every(({ races }) => races.rate?.pairs.length === 0)
  const columns = ['', ...standings.map(({ race, topology }) => `${race} ${topology}`)].map((heading) => ({
    heading,
    align: 'left' as const,
    priority: 0,
  }))
  const rows = CATALOGUE.map(({ name: framework }) => ({
    tone: 'plain' as const,
    cells: [
      framework,
      ...standings.map(({ entries }) => {
        const entry = entries.find(({ spec }) => spec.title === framework)
        const ratio = entry?.places.rate?.ratio
        if (entry === undefined || ratio == null) return ''
        return ratio.value === 1 && ratio.low === ratio.high
          ? `1, place ${placeOf(entry)}`
          : `${formatRatioInterval(ratio)}, place ${placeOf(entry)}`
      }),
    ],
  }))
  const known = rows.filter(({ cells }) => cells.slice(1).some((cell) => cell !== ''))
  return `### ${title}

${markdownTable({ columns, rows: known }, 0)}

${hardware.os}, ${hardware.kernel}. Startgrid ${versions.startgrid}, Node ${versions.node}, Bun ${versions.bun}, ${settings.heats} heats: \`${command}\`. [All figures](${name}.json).${converted ? '\nThis file was made from the report of the run, which had no ratios of pairs and no start-up; its figures are rounded.' : ''}`
}
