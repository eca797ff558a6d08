import { flag, helpOf, integer, readCommandLine } from '@startgrid/cli/options.ts'
import { createRandom } from '@startgrid/stats/random.ts'

/**
 * A neighbour that takes a core in bursts, for trying what the benchmark does on a busy machine. It makes visible noise: the kernel
 * preempts the servers for it, and its accounts say so.
 */

const OPTIONS = {
  'two-state': flag('random lengths, of 1.65 s and 0.55 s on average, instead of 0.2 s'),
  // One that was forgotten does no harm for long.
  seconds: integer('ends after this time', { min: 1, max: 600, default: 30 }),
  help: flag('this text'),
}

const COMMAND = 'node bench/simulation/neighbour.ts'

const HELP = `Takes one core in bursts, with pauses between them, as a busy neighbour would.

  ${COMMAND} [options]

${helpOf(OPTIONS)}

\`taskset -c 0 ${COMMAND}\` takes the first one. It also ends when its parent ends, and on Ctrl-C.`

/** How long one stretch of work lasts before it looks at the time and at its parent. */
const STRETCH_MS = 5

async function main(): Promise<void> {
  const { values } = readCommandLine(process.argv.slice(2), OPTIONS, COMMAND, 0)
  const { seconds, 'two-state': isRandom } = values
  if (values.help) return console.log(HELP)
  const parent = process.ppid
  const random = createRandom(1)
  const [burst, pause] = isRandom ? [1.65, 0.55] : [0.2, 0.2]
  const end = performance.now() + seconds * 1000
  console.log(`Takes a core in bursts for ${seconds} s.`)
  for (let isWork = true; performance.now() < end; isWork = !isWork) {
    const typical = isWork ? burst : pause
    const length = isRandom ? -Math.log(1 - random()) * typical : typical
    const until = Math.min(end, performance.now() + length * 1000)
    while (performance.now() < until) {
      if (process.ppid !== parent) return
      if (isWork) spin(Math.min(until, performance.now() + STRETCH_MS))
      else await new Promise((resolve) => setTimeout(resolve, Math.min(100, until - performance.now())))
    }
  }
}

function spin(until: number): void {
  while (performance.now() < until);
}

main().catch((error: Error) => {
  console.error(error.message)
  process.exitCode = 1
})
