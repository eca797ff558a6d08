import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { text, texts, type Values } from '@startgrid/cli/options.ts'
import { type Target, TargetError, targetOf } from '@startgrid/wire/target.ts'
import { LoadError, type LoadPlan, Requests } from './plan.ts'

/** What `pnpm load` and `race` are told of a request, and how both read it. */
export const REQUEST = {
  path: texts('PATH', 'what is asked (default /); with weights several are mixed: 3:/items'),
  method: text('M', 'GET, HEAD, POST, … (default GET, or POST with a body)'),
  header: texts("'NAME: V'", 'of every request; may be given again', { short: 'H' }),
  body: text('TEXT|@FILE', 'of every request; @- is standard input'),
}

/** @throws {UsageError} in one sentence */
export function readRequest({ method, header, body }: Omit<Values<typeof REQUEST>, 'path'>) {
  const headers: Record<string, string[]> = {}
  for (const line of header) {
    const [, name = '', value = ''] = /^([^:\s]+):\s*(.*)$/s.exec(line) ?? []
    if (name === '')
      throw new UsageError("--header needs a name, a colon and a value: -H 'accept: text/html'.")
    headers[name] = [...(headers[name] ?? []), value.trim()]
  }
  const request: Pick<LoadPlan, 'method' | 'headers' | 'body'> = {
    ...(method !== undefined && { method: method.toUpperCase() }),
    ...(method === undefined && body !== undefined && { method: 'POST' }),
    ...(header.length > 0 && { headers }),
    ...(body !== undefined && { body: readBody(body) }),
  }
  // What cannot be sent is said before anything is started.
  asUsage(() => new Requests({ target: { socketPath: '' }, path: '/', ...request }, () => 0))
  return request
}

/** Bytes of a file stay what they are. */
function readBody(typed: string): string | Uint8Array {
  if (!typed.startsWith('@')) return typed
  const file = typed.slice(1)
  try {
    return readFileSync(file === '-' ? 0 : resolve(directoryOfPerson(), file))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`--body names ${file}, which cannot be read (${code}).`)
  }
}

/** Each with its weight, if it has one: `3:/api/items`. @throws {UsageError} in one sentence */
export function readPaths(typed: readonly string[]): { path: string; weight?: number }[] {
  return typed.map((word) => {
    const [, weight, path = word] = /^([1-9]\d{0,2}):(.*)$/.exec(word) ?? []
    return { path: readPath(path), ...(weight !== undefined && { weight: Number(weight) }) }
  })
}

export function readPath(path: string, option = '--path'): string {
  if (/^\/[!-~]*$/.test(path) && !/[{}]/.test(path)) return path
  throw new UsageError(
    `${option} is '${path}', but must begin with / and hold visible ASCII characters only, without braces: /api/items.`,
  )
}

/** Where a server listens that a person names: `http://127.0.0.1:3000` or `unix:/run/app.sock`. */
export function readTarget(origin: string, insecure = false): Target {
  if (!origin.startsWith('unix:')) return asUsage(() => targetOf(new URL(origin), insecure))
  return { socketPath: resolve(directoryOfPerson(), origin.slice('unix:'.length)) }
}

function asUsage<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    const isWrong = error instanceof LoadError || error instanceof TargetError
    throw isWrong ? new UsageError(error.message) : error
  }
}

/** Where the person typed: a package manager runs scripts in the directory of the package. */
export function directoryOfPerson(): string {
  const { npm_lifecycle_event: script = '', INIT_CWD: typed, STARTGRID_DIRECTORY: given } = process.env
  const usual = /^(?:bench|load|reliability)$/.test(script) && typed !== undefined ? typed : process.cwd()
  // With `pnpm --dir`, the directory of the package stands for that of the person.
  return given ?? usual
}
