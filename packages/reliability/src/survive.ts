import { UsageError } from '@startgrid/cli/arguments.ts'
import { duration, flag, helpOf, readCommandLine, text, texts, type Values } from '@startgrid/cli/options.ts'
import { createProgress, listenForInterruption } from '@startgrid/cli/progress.ts'
import { listOf, wrap } from '@startgrid/cli/text.ts'
import { directoryOfPerson, readPath, readRequest } from '@startgrid/loadgen/request.ts'
import { Guard } from '@startgrid/machine/guard.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { headersOf } from '@startgrid/wire/request.ts'
import { tryCommand } from './command.ts'
import { ANY } from './faults/any.ts'
import { faultsOf, formatEnd, formatFinding, formatJson, formatMarkdown } from './report.ts'
import type { Named } from './routes.ts'
import type { Fault, OnFindings } from './subject.ts'

export const OPTIONS = {
  fault: texts('NAME', 'only this one; may be given again'),
  path: texts('PATH', 'of a command: a path that no link of / leads to; may be given again'),
  slow: text('PATH', 'a path that takes its time, to be under way when it is stopped'),
  stream: text('PATH', 'a path that streams, or has a long response'),
  upload: text('PATH', 'a path that takes an upload in the field file; avatar=/path names another'),
  header: texts('H', "a header of every request: 'authorization: Bearer …'"),
  'drain-delay': duration(
    'after SIGTERM, load balancers go on to send new connections for so long: 5s in Kubernetes',
    { min: 0, max: 60_000 },
  ),
  grace: duration('what is stopped is killed after that (default 10s)', { min: 1_000 }),
  'ready-timeout': duration('until it must accept connections (default 30s)', { min: 1_000 }),
  json: flag('the findings as JSON'),
  markdown: flag('the findings as a table for a comment'),
  help: flag('this text', { short: 'h' }),
}

/** @param program as a person types it */
export function helpFor(program: string, faults: readonly Pick<Fault, 'name'>[]): string {
  return `${program} 'node server.js' [options]  what does your server survive?

  'node server.js'  a command for a shell, in any language; it has to listen on
                the port in PORT, or on {port} in its words
${helpOf(OPTIONS)}

${wrap(`Faults: ${listOf(faults.map(({ name }) => name))}.`)}
Exit codes: 0 no fault; 1 a fault; 2 it cannot be tried; 130 interrupted.
`
}

/**
 * `reliability CMD`: tries the faults on anybody's server, and prints what it does.
 * @param program as a person types it
 * @returns 1 if a fault was found, else 0; 130 and the like after an interruption
 * @throws {UsageError} if it cannot be tried
 */
export async function surviveCommand(args: readonly string[], program: string): Promise<number> {
  const { values, positionals } = readCommandLine(args, OPTIONS, program)
  if (values.help) {
    process.stdout.write(helpFor(program, ANY))
    return 0
  }
  const [command = '', ...others] = positionals
  if (command.trim() === '' || others.length > 0)
    throw new UsageError(`Give one command, in quotes: ${program} 'node server.js'.`)
  if (/^(?:https?:\/\/|unix:)/.test(command))
    throw new UsageError(
      `${command} is an address, but a server has to be started and stopped: give the command that starts it.`,
    )
  const faults = chosen(values.fault, ANY)
  const named = readNamed(values)
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const nginx = await findNginx()
  const guard = new Guard()
  const beganAt = performance.now()
  // What they take, about: the first forecast.
  progress.begin((90_000 * faults.length) / ANY.length)
  const told = new Set<string>()
  const options = {
    command,
    directory: directoryOfPerson(),
    guard,
    nginx: nginx.kind === 'none' ? undefined : nginx,
    signal,
    stopping: { graceMs: values.grace ?? 10_000, drainDelayMs: values['drain-delay'] ?? 0 },
    readyTimeoutMs: values['ready-timeout'],
    tell(text: string) {
      if (!told.has(text)) progress.say(wrap(`${command} ${text}`, '  '))
      told.add(text)
    },
  }
  const format = values.json ? formatJson : values.markdown ? formatMarkdown : formatEnd
  const onFindings: OnFindings = (findings, done) => {
    if (format === formatEnd) process.stdout.write(findings.map((one) => `${formatFinding(one)}\n`).join(''))
    progress.update(done, findings[0]?.row ?? '')
  }
  const survey = await tryCommand(options, faults, named, onFindings).finally(async () => {
    progress.stop()
    await guard.close()
  })
  if (signal.aborted) return code()
  process.stdout.write(`${format(command, survey, (performance.now() - beganAt) / 1_000)}\n`)
  return faultsOf(survey.findings).length > 0 ? 1 : 0
}

/** @throws {UsageError} for a path or a header that is none */
function readNamed({ path, slow, stream, upload, header }: Values<typeof OPTIONS>): Named {
  const [, field = 'file', uploadPath = ''] = /^(?:([\w-]+)=)?(.*)$/s.exec(upload ?? '') ?? []
  const { headers = {} } = readRequest({ header, method: undefined, body: undefined })
  return {
    headers: headersOf(headers),
    paths: path.map((one) => readPath(one)),
    slow: slow && readPath(slow, '--slow'),
    stream: stream && readPath(stream, '--stream'),
    upload: upload === undefined ? undefined : { path: readPath(uploadPath, '--upload'), field },
  }
}

/** Whether a word is a command or an address, and no name of an app. */
export function isCommand(word: string): boolean {
  return /\s|^[./~]|\.\w+$|:\/\/|^unix:/.test(word)
}

/** Faults by name, in their order; all if none is named. @throws {UsageError} listing them */
export function chosen<Named extends Pick<Fault, 'name'>>(
  names: readonly string[],
  faults: readonly Named[],
): readonly Named[] {
  const known = faults.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new UsageError(`There is no fault '${unknown}', only ${known.join(', ')}.`)
  return names.length === 0 ? faults : faults.filter(({ name }) => names.includes(name))
}
