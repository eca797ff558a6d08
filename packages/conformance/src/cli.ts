import { UsageError } from '@startgrid/cli/arguments.ts'
import { flag, helpOf, readCommandLine, text, texts, type Values } from '@startgrid/cli/options.ts'
import { wrap } from '@startgrid/cli/text.ts'
import { NoResponse } from '@startgrid/wire/reader.ts'
import { type Target, TargetError, targetOf } from '@startgrid/wire/target.ts'
import { CAPABILITIES, type Capability, ROLES, type Role } from './contract/probe.ts'
import { checkConformance, formatReport, type Options } from './contract/runner.ts'
import { FORMS } from './protocol/forms.ts'
import { checkRfc9112 } from './protocol/rfc9112.ts'

const OPTIONS = {
  without: texts('CAPABILITY', `the app lacks it: ${CAPABILITIES.join(', ')} (may be repeated)`),
  insecure: flag('https:// on loopback with any certificate, such as our own'),
  compressed: flag('NGINX in front compresses pages'),
  only: text('TEXT', 'only the checks whose name contains it'),
  protocol: flag('instead of the contract, what the server does with malformed HTTP (RFC 9112)'),
  proxied: flag('NGINX is in front, so every MUST of RFC 9112 has to hold', { needs: 'protocol' }),
  help: flag('this text', { short: 'h' }),
}

const USAGE = `Checks that a server responds as docs/contract.md says.

  pnpm conformance ROLE URL     such as: ssr http://127.0.0.1:3000

Roles: ${ROLES.join(', ')}.

${helpOf(OPTIONS)}
`

/** Runs the command line. Resolves with the exit code: 0 conforms, 1 differs, 2 invalid usage or no server. */
async function main(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = readCommandLine(args, OPTIONS, 'pnpm conformance', 2)
    if (values.help) return print(USAGE, 0)
    const options = readOptions(values, positionals)
    if (values.protocol) {
      const { findings, notes } = await checkRfc9112(options.target)
      const counts = `${FORMS.length} forms of RFC 9112, ${findings.length} not as it demands`
      const text = [...findings, ...notes, counts].map((line) => wrap(line, '  ')).join('\n')
      // What a parser of a runtime accepts is its own; the NGINX in front must not pass it on.
      return print(text, values.proxied && findings.length > 0 ? 1 : 0)
    }
    const report = await checkConformance(options)
    return print(formatReport(report), report.differences.length === 0 ? 0 : 1)
  } catch (error) {
    if (![UsageError, TargetError, NoResponse].some((kind) => error instanceof kind)) throw error
    process.stderr.write(`${(error as Error).message}\n`)
    return 2
  }
}

function readOptions(values: Values<typeof OPTIONS>, [role, url]: readonly string[]): Options {
  if (!isRole(role))
    throw new UsageError(`${role ? `There is no role '${role}'` : 'Say which role'}: ${ROLES.join(', ')}.`)
  if (url === undefined)
    throw new UsageError('Say where the server is: http://host:port or https://host:port.')
  return {
    role,
    target: readOrigin(url, values.insecure),
    absent: values.without.map(readCapability),
    compressed: values.compressed,
    only: values.only ?? '',
  }
}

function readOrigin(text: string, insecure: boolean): Target {
  const url = URL.parse(text)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError(`'${text}' is not an http:// or https:// address, such as http://127.0.0.1:3000.`)
  if (url.pathname !== '/' || url.search !== '')
    throw new UsageError(`'${text}' has a path: give only the origin, such as ${url.origin}.`)
  return targetOf(url, insecure)
}

function isRole(text: string | undefined): text is Role {
  return ROLES.some((role) => role === text)
}

function readCapability(text: string): Capability {
  const found = CAPABILITIES.find((capability) => capability === text)
  if (found === undefined)
    throw new UsageError(`--without is '${text}', but must be ${CAPABILITIES.join(' or ')}.`)
  return found
}

function print(text: string, code: number): number {
  process.stdout.write(`${text.trimEnd()}\n`)
  return code
}

process.exitCode = await main(process.argv.slice(2))
