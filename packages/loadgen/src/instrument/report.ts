import { arrivalChecks } from './arrivals.ts'
import { type CheckOutcome, type Figure, type InstrumentCheck, isWithin, runCheck } from './check.ts'
import { closedLoopChecks } from './closed-loop.ts'
import { openLoopChecks } from './open-loop.ts'
import { stalledCheck } from './stalled.ts'
import { wrkCheck } from './wrk.ts'

const CHECKS: readonly InstrumentCheck[] = [
  ...arrivalChecks,
  ...closedLoopChecks,
  ...openLoopChecks,
  stalledCheck,
  wrkCheck,
]

/**
 * `pnpm bench check-instrument`: is this generator right on this machine? Prints each check with its figures when it is known.
 * @returns the exit code: 1 if something was measured and is wrong, else 0
 */
export async function checkInstrument(print: (text: string) => void): Promise<number> {
  const outcomes: CheckOutcome[] = []
  for (const check of CHECKS) {
    const outcome = await runCheck(check)
    outcomes.push(outcome)
    print(`${formatOutcome(outcome)}\n`)
  }
  const count = (state: CheckOutcome['state']) => outcomes.filter((one) => one.state === state).length
  const rest = (['wrong', 'undecided', 'absent'] as const).map((state) => `${count(state)} ${state}`)
  print(`${count('sound')} sound, ${rest.join(', ')}\n`)
  if (count('undecided') > 0)
    print('Undecided: in five trials other processes used the cores. Run it again on a quieter machine.\n')
  return count('wrong') > 0 ? 1 : 0
}

export function formatOutcome({ name, state, trials, figures, reason }: CheckOutcome): string {
  const head = `${state.padEnd(10)}${name}${trials > 1 ? ` (trial ${trials})` : ''}`
  const shown = figures.map((figure) => `  ${isWithin(figure) ? ' ' : '!'} ${formatFigure(figure)}`)
  return [head, ...(reason === undefined ? [] : [`    ${reason}`]), ...shown].join('\n')
}

function formatFigure({ what, value, least, most }: Figure): string {
  return `${what.padEnd(46)} ${round(value).padStart(8)}  (${round(least)} to ${round(most)})`
}

function round(value: number): string {
  return Number(value.toPrecision(4)).toLocaleString('en-US', { maximumFractionDigits: 4 })
}
